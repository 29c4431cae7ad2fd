# ~/.config/fish/conf.d/mk.fish: records failed commands of an interactive shell, where there is a project.
function _mk_postexec --on-event fish_postexec
    set -l failed $status
    if status is-interactive; and test $failed -ne 0 -a -n "$argv[1]"
        mk run --record --exit-code $failed -- "$argv[1]" > /dev/null 2>&1
    end
end
