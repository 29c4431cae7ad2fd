# ~/.zshrc: records failed commands of an interactive shell, where there is a project.
_mk_preexec() { _mk_command=$1 }
_mk_precmd() {
    local failed=$?
    if (( failed && ZSH_SUBSHELL == 0 )) && [[ -n $_mk_command ]]; then
        mk run --record --exit-code $failed -- "$_mk_command" > /dev/null 2>&1
    fi
    _mk_command=
}
autoload -Uz add-zsh-hook
add-zsh-hook preexec _mk_preexec
add-zsh-hook precmd _mk_precmd
