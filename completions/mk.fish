# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_mk_global_optspecs
    string join \n C= db= agent= branch= json lock-timeout= color= h/help V/version
end

function __fish_mk_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_mk_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_mk_using_subcommand
    set -l cmd (__fish_mk_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c mk -n "__fish_mk_needs_command" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_needs_command" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_needs_command" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_needs_command" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_needs_command" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_needs_command" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_needs_command" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_needs_command" -s V -l version -d 'Print version'
complete -c mk -n "__fish_mk_needs_command" -f -a "init" -d 'Make a project: one shared memory for everyone who works in this directory'
complete -c mk -n "__fish_mk_needs_command" -f -a "append" -d 'Append an event to a branch and print its hash'
complete -c mk -n "__fish_mk_needs_command" -f -a "task" -d 'Say what you are working on'
complete -c mk -n "__fish_mk_needs_command" -f -a "decide" -d 'Record a decision that others should follow'
complete -c mk -n "__fish_mk_needs_command" -f -a "fact" -d 'Record what was found out about the workspace'
complete -c mk -n "__fish_mk_needs_command" -f -a "note" -d 'Note a passing thought'
complete -c mk -n "__fish_mk_needs_command" -f -a "run" -d 'Run a command and record it: what it printed, its exit status, how long it took'
complete -c mk -n "__fish_mk_needs_command" -f -a "fork" -d 'Start a branch at an event of another branch'
complete -c mk -n "__fish_mk_needs_command" -f -a "switch" -d 'Change the branch you work on'
complete -c mk -n "__fish_mk_needs_command" -f -a "rollback" -d 'Take everything after an event off the live timeline'
complete -c mk -n "__fish_mk_needs_command" -f -a "undo" -d 'Roll back your own last events'
complete -c mk -n "__fish_mk_needs_command" -f -a "retract" -d 'Take back a decision, a fact or a task, whoever recorded it'
complete -c mk -n "__fish_mk_needs_command" -f -a "merge" -d 'Take over what another branch decided, found out and is at'
complete -c mk -n "__fish_mk_needs_command" -f -a "lease" -d 'Claim files for yourself for a while, or see who did'
complete -c mk -n "__fish_mk_needs_command" -f -a "with" -d 'Run a command while holding leases on all of the paths'
complete -c mk -n "__fish_mk_needs_command" -f -a "notice" -d 'Tell everybody who works on the project something, or see what was told'
complete -c mk -n "__fish_mk_needs_command" -f -a "sync" -d 'Exchange notices with other projects through a folder that all of them can write'
complete -c mk -n "__fish_mk_needs_command" -f -a "status" -d 'Show how things stand: who is here, what is leased, what blocks, what was decided and told'
complete -c mk -n "__fish_mk_needs_command" -f -a "branch" -d 'List the branches, the oldest first, with where each left its parent, its head and its tokens'
complete -c mk -n "__fish_mk_needs_command" -f -a "log" -d 'Show what happened on a branch, newest first'
complete -c mk -n "__fish_mk_needs_command" -f -a "show" -d 'Show events with all that they say'
complete -c mk -n "__fish_mk_needs_command" -f -a "search" -d 'Find the events that say all of the words, newest first'
complete -c mk -n "__fish_mk_needs_command" -f -a "watch" -d 'Print events as they land'
complete -c mk -n "__fish_mk_needs_command" -f -a "blame" -d 'Show who decided KEY or found it out, when, and what that took the place of, newest first'
complete -c mk -n "__fish_mk_needs_command" -f -a "stats" -d 'Show how large the project is, what compaction gains, and who writes most'
complete -c mk -n "__fish_mk_needs_command" -f -a "diff" -d 'Show how two branches differ: events of each side, decisions and facts'
complete -c mk -n "__fish_mk_needs_command" -f -a "context" -d 'Print what an agent should read: what holds now, then what happened last'
complete -c mk -n "__fish_mk_needs_command" -f -a "fold" -d 'Print what a branch adds up to: tasks, decisions, facts, blockers, claims'
complete -c mk -n "__fish_mk_needs_command" -f -a "cat-event" -d 'Print events as they are stored and travel: canonical JSON, a line each, with salt and hashes'
complete -c mk -n "__fish_mk_needs_command" -f -a "rev-parse" -d 'Print the hash that a revision stands for, or where the project is'
complete -c mk -n "__fish_mk_needs_command" -f -a "rev-list" -d 'Print the hashes of the events of a branch or a range, newest first'
complete -c mk -n "__fish_mk_needs_command" -f -a "merge-base" -d 'Print the last event that two lineages share'
complete -c mk -n "__fish_mk_needs_command" -f -a "for-each-branch" -d 'Print all branches, the oldest first, a line each'
complete -c mk -n "__fish_mk_needs_command" -f -a "gc" -d 'Compact a branch: a snapshot takes the place of older events where it is read'
complete -c mk -n "__fish_mk_needs_command" -f -a "exec" -d 'Keep and read what a team has settled: goals, gates, evidence, leases, handoffs (MKEP/0)'
complete -c mk -n "__fish_mk_needs_command" -f -a "mcp" -d 'Serve the memory to a coding agent over the Model Context Protocol'
complete -c mk -n "__fish_mk_needs_command" -f -a "verify" -d 'Check every chain, index and head of the store'
complete -c mk -n "__fish_mk_needs_command" -f -a "anchor" -d 'Print one line that stands for the whole log'
complete -c mk -n "__fish_mk_needs_command" -f -a "erase" -d 'Take out for good what events say'
complete -c mk -n "__fish_mk_needs_command" -f -a "backup" -d 'Copy the whole store to a file'
complete -c mk -n "__fish_mk_needs_command" -f -a "restore" -d 'Put a backup in the place of the store'
complete -c mk -n "__fish_mk_needs_command" -f -a "export" -d 'Print all events, one a line, to be imported elsewhere'
complete -c mk -n "__fish_mk_needs_command" -f -a "import" -d 'Take in the events of an export'
complete -c mk -n "__fish_mk_needs_command" -f -a "attach" -d 'Let agents use this project: put `mk mcp` into their configuration'
complete -c mk -n "__fish_mk_needs_command" -f -a "detach" -d 'Take out what `mk attach` put into the configuration of agents'
complete -c mk -n "__fish_mk_needs_command" -f -a "hook" -d 'Answer the hook of an agent or of git'
complete -c mk -n "__fish_mk_needs_command" -f -a "doctor" -d 'Check everything that agents need: project, store, server, configurations, hooks'
complete -c mk -n "__fish_mk_needs_command" -f -a "config" -d 'Print or change a setting of the project'
complete -c mk -n "__fish_mk_needs_command" -f -a "demo" -d 'Play a story of two agents in a throw-away project, and check what it claims'
complete -c mk -n "__fish_mk_needs_command" -f -a "completions" -d 'Print the completion script of a shell'
complete -c mk -n "__fish_mk_needs_command" -f -a "generate" -d 'Write man/ and completions/ from the definition of the commands'
complete -c mk -n "__fish_mk_needs_command" -f -a "help" -d 'Explain a command, or the codes of errors'
complete -c mk -n "__fish_mk_using_subcommand init" -l tokenizer -d 'How tokens are counted, for good' -r
complete -c mk -n "__fish_mk_using_subcommand init" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand init" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand init" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand init" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand init" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand init" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand init" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand init" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand append" -l type -d 'What happened [default: AGENT_SCRATCHPAD]' -r
complete -c mk -n "__fish_mk_using_subcommand append" -l payload -d 'The payload, a JSON object: the text, `-` for stdin, or @FILE' -r
complete -c mk -n "__fish_mk_using_subcommand append" -l meta -d 'Metadata, a JSON object: the text, `-` for stdin, or @FILE' -r
complete -c mk -n "__fish_mk_using_subcommand append" -l expect -d 'Append only if this is the head of the branch; `none` for an empty branch' -r
complete -c mk -n "__fish_mk_using_subcommand append" -l fence -d 'Append only while this lease is held with this token, and renew it; any number of times' -r
complete -c mk -n "__fish_mk_using_subcommand append" -l op-id -d 'Do this once, however often it is asked for under ID' -r
complete -c mk -n "__fish_mk_using_subcommand append" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand append" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand append" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand append" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand append" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand append" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand append" -l batch -d 'Read events from stdin and append all or none'
complete -c mk -n "__fish_mk_using_subcommand append" -l each -d 'Read events from stdin and append each on its own'
complete -c mk -n "__fish_mk_using_subcommand append" -s q -l quiet -d 'Print nothing'
complete -c mk -n "__fish_mk_using_subcommand append" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand append" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand task" -s c -l constraint -d 'A condition to keep, any number of times' -r
complete -c mk -n "__fish_mk_using_subcommand task" -l meta -d 'Metadata, a JSON object: the text, `-` for stdin, or @FILE' -r
complete -c mk -n "__fish_mk_using_subcommand task" -l expect -d 'Append only if this is the head of the branch; `none` for an empty branch' -r
complete -c mk -n "__fish_mk_using_subcommand task" -l fence -d 'Append only while this lease is held with this token, and renew it; any number of times' -r
complete -c mk -n "__fish_mk_using_subcommand task" -l op-id -d 'Do this once, however often it is asked for under ID' -r
complete -c mk -n "__fish_mk_using_subcommand task" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand task" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand task" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand task" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand task" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand task" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand task" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand task" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand decide" -s m -l message -d 'Why' -r
complete -c mk -n "__fish_mk_using_subcommand decide" -l meta -d 'Metadata, a JSON object: the text, `-` for stdin, or @FILE' -r
complete -c mk -n "__fish_mk_using_subcommand decide" -l expect -d 'Append only if this is the head of the branch; `none` for an empty branch' -r
complete -c mk -n "__fish_mk_using_subcommand decide" -l fence -d 'Append only while this lease is held with this token, and renew it; any number of times' -r
complete -c mk -n "__fish_mk_using_subcommand decide" -l op-id -d 'Do this once, however often it is asked for under ID' -r
complete -c mk -n "__fish_mk_using_subcommand decide" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand decide" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand decide" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand decide" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand decide" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand decide" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand decide" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand decide" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand fact" -l meta -d 'Metadata, a JSON object: the text, `-` for stdin, or @FILE' -r
complete -c mk -n "__fish_mk_using_subcommand fact" -l expect -d 'Append only if this is the head of the branch; `none` for an empty branch' -r
complete -c mk -n "__fish_mk_using_subcommand fact" -l fence -d 'Append only while this lease is held with this token, and renew it; any number of times' -r
complete -c mk -n "__fish_mk_using_subcommand fact" -l op-id -d 'Do this once, however often it is asked for under ID' -r
complete -c mk -n "__fish_mk_using_subcommand fact" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand fact" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand fact" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand fact" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand fact" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand fact" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand fact" -l text -d 'Keep every value as a text'
complete -c mk -n "__fish_mk_using_subcommand fact" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand fact" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand note" -l meta -d 'Metadata, a JSON object: the text, `-` for stdin, or @FILE' -r
complete -c mk -n "__fish_mk_using_subcommand note" -l expect -d 'Append only if this is the head of the branch; `none` for an empty branch' -r
complete -c mk -n "__fish_mk_using_subcommand note" -l fence -d 'Append only while this lease is held with this token, and renew it; any number of times' -r
complete -c mk -n "__fish_mk_using_subcommand note" -l op-id -d 'Do this once, however often it is asked for under ID' -r
complete -c mk -n "__fish_mk_using_subcommand note" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand note" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand note" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand note" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand note" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand note" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand note" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand note" -s h -l help -d 'Print help'
complete -c mk -n "__fish_mk_using_subcommand run" -l exit-code -d 'Its exit status, 0 to 255; 128 + N if signal N ended it' -r
complete -c mk -n "__fish_mk_using_subcommand run" -l output -d 'What it printed: the text, `-` for stdin, or @FILE' -r
complete -c mk -n "__fish_mk_using_subcommand run" -l duration -d 'How long it took, in milliseconds' -r
complete -c mk -n "__fish_mk_using_subcommand run" -l fact -d 'What was found out by it, any number of times; a value that reads as JSON is kept as that' -r
complete -c mk -n "__fish_mk_using_subcommand run" -l fence -d 'Record it only while this lease is held with this token, and renew it; any number of times' -r
complete -c mk -n "__fish_mk_using_subcommand run" -l op-id -d 'Record it once, however often it is asked for under ID' -r
complete -c mk -n "__fish_mk_using_subcommand run" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand run" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand run" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand run" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand run" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand run" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand run" -l record -d 'Only record it'
complete -c mk -n "__fish_mk_using_subcommand run" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand fork" -l from -d 'Branch to fork from [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand fork" -l at -d 'Fork point [default: the head of BRANCH]' -r
complete -c mk -n "__fish_mk_using_subcommand fork" -s m -l message -d 'Why' -r
complete -c mk -n "__fish_mk_using_subcommand fork" -l op-id -d 'Do this once, however often it is asked for under ID' -r
complete -c mk -n "__fish_mk_using_subcommand fork" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand fork" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand fork" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand fork" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand fork" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand fork" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand fork" -l switch -d 'Make it the current branch'
complete -c mk -n "__fish_mk_using_subcommand fork" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand fork" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand switch" -l at -d 'Fork point, with --create [default: the head of the current branch]' -r
complete -c mk -n "__fish_mk_using_subcommand switch" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand switch" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand switch" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand switch" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand switch" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand switch" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand switch" -s c -l create -d 'Fork it from the current branch first'
complete -c mk -n "__fish_mk_using_subcommand switch" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand switch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand rollback" -s m -l message -d 'Why' -r
complete -c mk -n "__fish_mk_using_subcommand rollback" -l op-id -d 'Do this once, however often it is asked for under ID' -r
complete -c mk -n "__fish_mk_using_subcommand rollback" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand rollback" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand rollback" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand rollback" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand rollback" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand rollback" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand rollback" -l include-others -d 'Revert the events of other agents too'
complete -c mk -n "__fish_mk_using_subcommand rollback" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand rollback" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand undo" -s m -l message -d 'Why' -r
complete -c mk -n "__fish_mk_using_subcommand undo" -l op-id -d 'Do this once, however often it is asked for under ID' -r
complete -c mk -n "__fish_mk_using_subcommand undo" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand undo" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand undo" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand undo" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand undo" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand undo" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand undo" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand undo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand retract" -s m -l message -d 'Why' -r
complete -c mk -n "__fish_mk_using_subcommand retract" -l op-id -d 'Do this once, however often it is asked for under ID' -r
complete -c mk -n "__fish_mk_using_subcommand retract" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand retract" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand retract" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand retract" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand retract" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand retract" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand retract" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand retract" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand merge" -l ours -d 'Settle the conflict about KEY by what holds here, any number of times' -r
complete -c mk -n "__fish_mk_using_subcommand merge" -l theirs -d 'Settle it by what holds there' -r
complete -c mk -n "__fish_mk_using_subcommand merge" -l set -d 'Settle it by a value of your own' -r
complete -c mk -n "__fish_mk_using_subcommand merge" -s X -l prefer -d 'Settle all conflicts that are not named so' -r -f -a "ours\t''
theirs\t''"
complete -c mk -n "__fish_mk_using_subcommand merge" -s m -l message -d 'Why' -r
complete -c mk -n "__fish_mk_using_subcommand merge" -l op-id -d 'Do this once, however often it is asked for under ID' -r
complete -c mk -n "__fish_mk_using_subcommand merge" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand merge" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand merge" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand merge" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand merge" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand merge" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand merge" -s n -l dry-run -d 'Only say what would be done; exit with 1 if there are conflicts'
complete -c mk -n "__fish_mk_using_subcommand merge" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand merge" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand lease; and not __fish_seen_subcommand_from acquire renew release check list sweep" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand lease; and not __fish_seen_subcommand_from acquire renew release check list sweep" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand lease; and not __fish_seen_subcommand_from acquire renew release check list sweep" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and not __fish_seen_subcommand_from acquire renew release check list sweep" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and not __fish_seen_subcommand_from acquire renew release check list sweep" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and not __fish_seen_subcommand_from acquire renew release check list sweep" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand lease; and not __fish_seen_subcommand_from acquire renew release check list sweep" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand lease; and not __fish_seen_subcommand_from acquire renew release check list sweep" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand lease; and not __fish_seen_subcommand_from acquire renew release check list sweep" -f -a "acquire" -d 'Get leases on all of the paths, or on none, and print the token of each'
complete -c mk -n "__fish_mk_using_subcommand lease; and not __fish_seen_subcommand_from acquire renew release check list sweep" -f -a "renew" -d 'Let a lease hold for its whole time again, from now on'
complete -c mk -n "__fish_mk_using_subcommand lease; and not __fish_seen_subcommand_from acquire renew release check list sweep" -f -a "release" -d 'Give a lease back'
complete -c mk -n "__fish_mk_using_subcommand lease; and not __fish_seen_subcommand_from acquire renew release check list sweep" -f -a "check" -d 'Tell whether paths are leased to others: exit 0 if none is, 1 if one is'
complete -c mk -n "__fish_mk_using_subcommand lease; and not __fish_seen_subcommand_from acquire renew release check list sweep" -f -a "list" -d 'List the leases in force, by resource: resource, holder, token, time left'
complete -c mk -n "__fish_mk_using_subcommand lease; and not __fish_seen_subcommand_from acquire renew release check list sweep" -f -a "sweep" -d 'Give back the leases whose time ran out'
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from acquire" -l ttl -d 'How long they hold, above 0, at most 86400 [default: 30]' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from acquire" -l wait -d 'How long to wait for them if others hold them, first come first served, at most 86400' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from acquire" -l op-id -d 'Do this once, however often it is asked for under ID' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from acquire" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from acquire" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from acquire" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from acquire" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from acquire" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from acquire" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from acquire" -l takeover -d 'Take over what another session of the same agent holds: it gets a new token'
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from acquire" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from acquire" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from renew" -l token -d 'The token that `mk lease acquire` printed' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from renew" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from renew" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from renew" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from renew" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from renew" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from renew" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from renew" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from renew" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from release" -l token -d 'The token that `mk lease acquire` printed' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from release" -l op-id -d 'Do this once, however often it is asked for under ID' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from release" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from release" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from release" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from release" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from release" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from release" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from release" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from release" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from check" -l token -d 'Whether this is the current token of your lease on exactly the one PATH' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from check" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from check" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from check" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from check" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from check" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from check" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from check" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from list" -l after -d 'Start after this resource' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from list" -s n -l limit -d 'Most that are listed, 1 to 1000' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from list" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from list" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from list" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from list" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from list" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from list" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from list" -l all -d 'Also those that are over: what was ever leased, with its last token'
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from list" -s z -d 'Print resources only, each with a NUL at its end'
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from list" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from sweep" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from sweep" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from sweep" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from sweep" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from sweep" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from sweep" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from sweep" -s n -l dry-run -d 'Only say which'
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from sweep" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand lease; and __fish_seen_subcommand_from sweep" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand with" -l ttl -d 'How long a lease holds if it is not renewed, above 0, at most 86400 [default: 30]' -r
complete -c mk -n "__fish_mk_using_subcommand with" -l wait -d 'How long to wait for them if others hold them, first come first served, at most 86400' -r
complete -c mk -n "__fish_mk_using_subcommand with" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand with" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand with" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand with" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand with" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand with" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand with" -l takeover -d 'Take over what another session of the same agent holds'
complete -c mk -n "__fish_mk_using_subcommand with" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand with" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand notice; and not __fish_seen_subcommand_from post clear list export import" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand notice; and not __fish_seen_subcommand_from post clear list export import" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand notice; and not __fish_seen_subcommand_from post clear list export import" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand notice; and not __fish_seen_subcommand_from post clear list export import" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand notice; and not __fish_seen_subcommand_from post clear list export import" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand notice; and not __fish_seen_subcommand_from post clear list export import" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand notice; and not __fish_seen_subcommand_from post clear list export import" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand notice; and not __fish_seen_subcommand_from post clear list export import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand notice; and not __fish_seen_subcommand_from post clear list export import" -f -a "post" -d 'Tell everybody something about a resource, and print the id of the notice'
complete -c mk -n "__fish_mk_using_subcommand notice; and not __fish_seen_subcommand_from post clear list export import" -f -a "clear" -d 'Take a notice back that you posted: what it told of is over'
complete -c mk -n "__fish_mk_using_subcommand notice; and not __fish_seen_subcommand_from post clear list export import" -f -a "list" -d 'List the notices that are not cleared, by id: id, resource, author, status, when its time runs out, message'
complete -c mk -n "__fish_mk_using_subcommand notice; and not __fish_seen_subcommand_from post clear list export import" -f -a "export" -d 'Print notices as one JSON document, for `mk notice import` elsewhere'
complete -c mk -n "__fish_mk_using_subcommand notice; and not __fish_seen_subcommand_from post clear list export import" -f -a "import" -d 'Take in the notices of a document, all of it or nothing'
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from post" -l ttl -d 'How long it is active, 1 to 604800 [default: 3600]' -r
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from post" -l op-id -d 'Do this once, however often it is asked for under ID' -r
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from post" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from post" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from post" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from post" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from post" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from post" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from post" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from post" -s h -l help -d 'Print help'
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from clear" -l op-id -d 'Do this once, however often it is asked for under ID' -r
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from clear" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from clear" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from clear" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from clear" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from clear" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from clear" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from clear" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from clear" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from list" -l after -d 'Start after this id' -r
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from list" -s n -l limit -d 'Most that are listed, 1 to 1000' -r
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from list" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from list" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from list" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from list" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from list" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from list" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from list" -l cleared -d 'Also those that were cleared'
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from list" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from export" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from export" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from export" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from export" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from export" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from export" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from export" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from export" -s h -l help -d 'Print help'
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from import" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from import" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from import" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from import" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from import" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from import" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from import" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand notice; and __fish_seen_subcommand_from import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand sync; and not __fish_seen_subcommand_from init trust revoke enable run status audit" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand sync; and not __fish_seen_subcommand_from init trust revoke enable run status audit" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand sync; and not __fish_seen_subcommand_from init trust revoke enable run status audit" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and not __fish_seen_subcommand_from init trust revoke enable run status audit" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and not __fish_seen_subcommand_from init trust revoke enable run status audit" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and not __fish_seen_subcommand_from init trust revoke enable run status audit" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand sync; and not __fish_seen_subcommand_from init trust revoke enable run status audit" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand sync; and not __fish_seen_subcommand_from init trust revoke enable run status audit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand sync; and not __fish_seen_subcommand_from init trust revoke enable run status audit" -f -a "init" -d 'Make a policy file and a key, and print what other peers need to trust this one'
complete -c mk -n "__fish_mk_using_subcommand sync; and not __fish_seen_subcommand_from init trust revoke enable run status audit" -f -a "trust" -d 'Trust a peer: take in what it publishes in the name of its agents'
complete -c mk -n "__fish_mk_using_subcommand sync; and not __fish_seen_subcommand_from init trust revoke enable run status audit" -f -a "revoke" -d 'Trust a peer no longer: what it published stays, and nothing of it is taken in any more'
complete -c mk -n "__fish_mk_using_subcommand sync; and not __fish_seen_subcommand_from init trust revoke enable run status audit" -f -a "enable" -d 'Take part in the exchange of a policy, for good'
complete -c mk -n "__fish_mk_using_subcommand sync; and not __fish_seen_subcommand_from init trust revoke enable run status audit" -f -a "run" -d 'Publish the notices of this peer, and take in those of the others: exit 1 if a peer has an error'
complete -c mk -n "__fish_mk_using_subcommand sync; and not __fish_seen_subcommand_from init trust revoke enable run status audit" -f -a "status" -d 'Show the peers and how fresh what they published is'
complete -c mk -n "__fish_mk_using_subcommand sync; and not __fish_seen_subcommand_from init trust revoke enable run status audit" -f -a "audit" -d 'List what was published, accepted and rejected, the newest first'
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from init" -l folder -d 'The folder that the peers share' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from init" -l workspace -d 'The name of the exchange, the same for all peers' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from init" -l peer -d 'The name of this peer in it' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from init" -l agents -d 'The agents that it speaks for, with commas between them' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from init" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from init" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from init" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from init" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from init" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from init" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from init" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from init" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from trust" -l public-key -d 'Its public key, as `mk sync init` printed it there' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from trust" -l agents -d 'The agents that it speaks for, with commas between them' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from trust" -l policy -d 'The policy file [default: the one that `mk sync enable` was given]' -r -F
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from trust" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from trust" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from trust" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from trust" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from trust" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from trust" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from trust" -l replace -d 'The peer is trusted already: trust it with this key and these agents instead'
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from trust" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from trust" -s h -l help -d 'Print help'
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from revoke" -l policy -d 'The policy file [default: the one that `mk sync enable` was given]' -r -F
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from revoke" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from revoke" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from revoke" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from revoke" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from revoke" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from revoke" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from revoke" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from revoke" -s h -l help -d 'Print help'
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from enable" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from enable" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from enable" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from enable" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from enable" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from enable" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from enable" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from enable" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from run" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from run" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from run" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from run" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from run" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from run" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from run" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help'
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from status" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from status" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from status" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from status" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from status" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from status" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from status" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help'
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from audit" -s n -l limit -d 'Most that are listed, 1 to 1000' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from audit" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from audit" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from audit" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from audit" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from audit" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from audit" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from audit" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand sync; and __fish_seen_subcommand_from audit" -s h -l help -d 'Print help'
complete -c mk -n "__fish_mk_using_subcommand status" -s n -l limit -d 'Most that are shown of each kind, 1 to 100' -r
complete -c mk -n "__fish_mk_using_subcommand status" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand status" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand status" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand status" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand status" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand status" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand status" -l exit-code -d 'Exit 1 if anything blocks'
complete -c mk -n "__fish_mk_using_subcommand status" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand status" -s h -l help -d 'Print help'
complete -c mk -n "__fish_mk_using_subcommand branch" -l prefix -d 'Only those whose names begin so' -r
complete -c mk -n "__fish_mk_using_subcommand branch" -l after -d 'Start after this one' -r
complete -c mk -n "__fish_mk_using_subcommand branch" -s n -l limit -d 'Most that are listed, 1 to 1000' -r
complete -c mk -n "__fish_mk_using_subcommand branch" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand branch" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand branch" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand branch" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand branch" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand branch" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand branch" -s a -l all -d 'Those of mk itself too, whose names begin with @'
complete -c mk -n "__fish_mk_using_subcommand branch" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand branch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand log" -s n -l max-count -d 'At most N events' -r
complete -c mk -n "__fish_mk_using_subcommand log" -l by -l author -d 'Only events by this agent' -r
complete -c mk -n "__fish_mk_using_subcommand log" -l type -d 'Only events of this type' -r
complete -c mk -n "__fish_mk_using_subcommand log" -l since -d 'Only events at or after this time: 2026-11-30T10:00Z or @SECONDS since 1970' -r
complete -c mk -n "__fish_mk_using_subcommand log" -l until -d 'Only events at or before this time' -r
complete -c mk -n "__fish_mk_using_subcommand log" -l key -d 'Only events that decide, find out or retract this key' -r
complete -c mk -n "__fish_mk_using_subcommand log" -l grep -d 'Only events with this text in a value of their payload, letter case observed' -r
complete -c mk -n "__fish_mk_using_subcommand log" -l format -d 'What to print of each event: text with %(hash) %(short) %(event_id) %(sequence) %(branch) %(agent) %(date) %(type) %(subject) %(parent) and %%' -r
complete -c mk -n "__fish_mk_using_subcommand log" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand log" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand log" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand log" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand log" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand log" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand log" -l all -d 'All events of all branches, the newest first'
complete -c mk -n "__fish_mk_using_subcommand log" -l lineage -d 'Reverted events too'
complete -c mk -n "__fish_mk_using_subcommand log" -l reverse -d 'Oldest first'
complete -c mk -n "__fish_mk_using_subcommand log" -l oneline -d 'A line for each event'
complete -c mk -n "__fish_mk_using_subcommand log" -l graph -d 'Draw how the events follow each other'
complete -c mk -n "__fish_mk_using_subcommand log" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand log" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand show" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand show" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand show" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand show" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand show" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand show" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand show" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand show" -s h -l help -d 'Print help'
complete -c mk -n "__fish_mk_using_subcommand search" -l by -d 'Only events by this agent' -r
complete -c mk -n "__fish_mk_using_subcommand search" -l type -d 'Only events of this type' -r
complete -c mk -n "__fish_mk_using_subcommand search" -s n -l limit -d 'At most N events, 1 to 1000' -r
complete -c mk -n "__fish_mk_using_subcommand search" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand search" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand search" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand search" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand search" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand search" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand search" -l all -d 'All events of all branches, reverted ones too'
complete -c mk -n "__fish_mk_using_subcommand search" -l lineage -d 'Reverted events too'
complete -c mk -n "__fish_mk_using_subcommand search" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand search" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand watch" -l after -d 'Also those since this event' -r
complete -c mk -n "__fish_mk_using_subcommand watch" -l resource -d 'Only grants, releases and fenced writes of PATH, or of a subtree it is in; with a / at its end, of all that is in it' -r
complete -c mk -n "__fish_mk_using_subcommand watch" -l wait -d 'End with the first that land, or with exit status 1 when there are none for so long' -r
complete -c mk -n "__fish_mk_using_subcommand watch" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand watch" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand watch" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand watch" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand watch" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand watch" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand watch" -l all -d 'Events of all branches'
complete -c mk -n "__fish_mk_using_subcommand watch" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand watch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand blame" -l at -d 'Start at this event or branch [default: the current branch]' -r
complete -c mk -n "__fish_mk_using_subcommand blame" -s n -l limit -d 'Most values that are shown, 1 to 100' -r
complete -c mk -n "__fish_mk_using_subcommand blame" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand blame" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand blame" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand blame" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand blame" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand blame" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand blame" -l fact -d 'Look for a fact only: one of the same name as a decision is not seen otherwise'
complete -c mk -n "__fish_mk_using_subcommand blame" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand blame" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand stats" -l last -d 'Count the agents and types of so many of the newest events, 1 to 100000' -r
complete -c mk -n "__fish_mk_using_subcommand stats" -s n -l limit -d 'Most branches and agents that are shown, 1 to 100' -r
complete -c mk -n "__fish_mk_using_subcommand stats" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand stats" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand stats" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand stats" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand stats" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand stats" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand stats" -l plot -d 'Draw bars'
complete -c mk -n "__fish_mk_using_subcommand stats" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand stats" -s h -l help -d 'Print help'
complete -c mk -n "__fish_mk_using_subcommand diff" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand diff" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand diff" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand diff" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand diff" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand diff" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand diff" -l exit-code -d 'Exit with 1 if they differ'
complete -c mk -n "__fish_mk_using_subcommand diff" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand diff" -s h -l help -d 'Print help'
complete -c mk -n "__fish_mk_using_subcommand context" -l budget -d 'Most tokens, at least 100 [default: 4000]' -r
complete -c mk -n "__fish_mk_using_subcommand context" -l resource -d 'Of the notices only those about exactly this' -r
complete -c mk -n "__fish_mk_using_subcommand context" -l goal -d 'A goal of `mk exec`, of which to tell what is still pending; only with --exec-budget' -r
complete -c mk -n "__fish_mk_using_subcommand context" -l exec-budget -d 'Most tokens for that, at most 400 of them used, taken from the budget; only with --goal' -r
complete -c mk -n "__fish_mk_using_subcommand context" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand context" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand context" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand context" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand context" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand context" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand context" -l full -d 'Print the newest snapshot and every event after it, however long, and as they were written, then up to 1000 tokens of notices: not meant for a terminal'
complete -c mk -n "__fish_mk_using_subcommand context" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand context" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand fold" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand fold" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand fold" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand fold" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand fold" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand fold" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand fold" -l digest -d 'Print the SHA-256 of the state instead, equal wherever the same events are'
complete -c mk -n "__fish_mk_using_subcommand fold" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand fold" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand cat-event" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand cat-event" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand cat-event" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand cat-event" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand cat-event" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand cat-event" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand cat-event" -l batch -d 'Answer revisions from stdin, with the event'
complete -c mk -n "__fish_mk_using_subcommand cat-event" -l batch-check -d 'Answer revisions from stdin, without the event'
complete -c mk -n "__fish_mk_using_subcommand cat-event" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand cat-event" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand rev-parse" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand rev-parse" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand rev-parse" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand rev-parse" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand rev-parse" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand rev-parse" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand rev-parse" -l id -d 'Print event ids instead'
complete -c mk -n "__fish_mk_using_subcommand rev-parse" -l short -d 'Print the first 8 digits'
complete -c mk -n "__fish_mk_using_subcommand rev-parse" -s q -l quiet -d 'Say nothing if there is no such event, and exit with 1'
complete -c mk -n "__fish_mk_using_subcommand rev-parse" -l store -d 'Print the path of the store'
complete -c mk -n "__fish_mk_using_subcommand rev-parse" -l project -d 'Print the id of the project'
complete -c mk -n "__fish_mk_using_subcommand rev-parse" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand rev-parse" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand rev-list" -s n -l max-count -d 'At most N events' -r
complete -c mk -n "__fish_mk_using_subcommand rev-list" -l by -l author -d 'Only events by this agent' -r
complete -c mk -n "__fish_mk_using_subcommand rev-list" -l type -d 'Only events of this type' -r
complete -c mk -n "__fish_mk_using_subcommand rev-list" -l since -d 'Only events at or after this time: 2026-11-30T10:00Z or @SECONDS since 1970' -r
complete -c mk -n "__fish_mk_using_subcommand rev-list" -l until -d 'Only events at or before this time' -r
complete -c mk -n "__fish_mk_using_subcommand rev-list" -l key -d 'Only events that decide, find out or retract this key' -r
complete -c mk -n "__fish_mk_using_subcommand rev-list" -l grep -d 'Only events with this text in a value of their payload, letter case observed' -r
complete -c mk -n "__fish_mk_using_subcommand rev-list" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand rev-list" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand rev-list" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand rev-list" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand rev-list" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand rev-list" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand rev-list" -l all -d 'All events of all branches, the newest first'
complete -c mk -n "__fish_mk_using_subcommand rev-list" -l lineage -d 'Reverted events too'
complete -c mk -n "__fish_mk_using_subcommand rev-list" -l reverse -d 'Oldest first'
complete -c mk -n "__fish_mk_using_subcommand rev-list" -l count -d 'Print how many there are instead'
complete -c mk -n "__fish_mk_using_subcommand rev-list" -l id -d 'Print event ids instead'
complete -c mk -n "__fish_mk_using_subcommand rev-list" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand rev-list" -s h -l help -d 'Print help'
complete -c mk -n "__fish_mk_using_subcommand merge-base" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand merge-base" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand merge-base" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand merge-base" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand merge-base" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand merge-base" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand merge-base" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand merge-base" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand for-each-branch" -l format -d 'What to print: text with %(name) %(hash) %(event_id) %(sequence) %(parent) %(fork_point) %(created_at) %(created_by) and %%' -r
complete -c mk -n "__fish_mk_using_subcommand for-each-branch" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand for-each-branch" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand for-each-branch" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand for-each-branch" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand for-each-branch" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand for-each-branch" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand for-each-branch" -s z -d 'End each with a NUL instead of a line break'
complete -c mk -n "__fish_mk_using_subcommand for-each-branch" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand for-each-branch" -s h -l help -d 'Print help'
complete -c mk -n "__fish_mk_using_subcommand gc" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand gc" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand gc" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand gc" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand gc" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand gc" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand gc" -l all -d 'Every branch'
complete -c mk -n "__fish_mk_using_subcommand gc" -l force -d 'Compact whatever the threshold and the minimal gain are, as long as anything is won'
complete -c mk -n "__fish_mk_using_subcommand gc" -s n -l dry-run -d 'Only say what would come of it'
complete -c mk -n "__fish_mk_using_subcommand gc" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand gc" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand exec; and not __fish_seen_subcommand_from call state log import export" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand exec; and not __fish_seen_subcommand_from call state log import export" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand exec; and not __fish_seen_subcommand_from call state log import export" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand exec; and not __fish_seen_subcommand_from call state log import export" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand exec; and not __fish_seen_subcommand_from call state log import export" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand exec; and not __fish_seen_subcommand_from call state log import export" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand exec; and not __fish_seen_subcommand_from call state log import export" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand exec; and not __fish_seen_subcommand_from call state log import export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand exec; and not __fish_seen_subcommand_from call state log import export" -f -a "call" -d 'Answer a request of MKEP/0: one JSON object on stdin, one on stdout'
complete -c mk -n "__fish_mk_using_subcommand exec; and not __fish_seen_subcommand_from call state log import export" -f -a "state" -d 'Show a goal: its gates and their evidence, leases, handoffs, and what holds it up'
complete -c mk -n "__fish_mk_using_subcommand exec; and not __fish_seen_subcommand_from call state log import export" -f -a "log" -d 'Print the records of the log, newest first'
complete -c mk -n "__fish_mk_using_subcommand exec; and not __fish_seen_subcommand_from call state log import export" -f -a "import" -d 'Take over an execution log of MemKraft'
complete -c mk -n "__fish_mk_using_subcommand exec; and not __fish_seen_subcommand_from call state log import export" -f -a "export" -d 'Write the log to DIR as MemKraft keeps it'
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from call" -l base-dir -d 'The directory that holds the project, or will, instead of the project around' -r -F
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from call" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from call" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from call" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from call" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from call" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from call" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from call" -l batch -l jsonl -d 'Answer many requests, one a line: exit status 0 however they are answered'
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from call" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from call" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from state" -l now -d 'At this time, 2026-11-30T10:00:00Z [default: now]' -r
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from state" -l base-dir -d 'The directory that holds the project, or will, instead of the project around' -r -F
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from state" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from state" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from state" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from state" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from state" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from state" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from state" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from state" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from log" -s n -l max-count -d 'At most N records' -r
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from log" -l base-dir -d 'The directory that holds the project, or will, instead of the project around' -r -F
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from log" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from log" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from log" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from log" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from log" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from log" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from log" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from log" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from import" -l base-dir -d 'The directory that holds the project, or will, instead of the project around' -r -F
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from import" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from import" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from import" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from import" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from import" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from import" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from import" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from export" -l base-dir -d 'The directory that holds the project, or will, instead of the project around' -r -F
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from export" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from export" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from export" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from export" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from export" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from export" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from export" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand exec; and __fish_seen_subcommand_from export" -s h -l help -d 'Print help'
complete -c mk -n "__fish_mk_using_subcommand mcp; and not __fish_seen_subcommand_from token" -l tools -d 'Which tools: core, all, or a comma list of names and groups (exec, notice, repair) [env: MK_MCP_TOOLS] [default: core]' -r
complete -c mk -n "__fish_mk_using_subcommand mcp; and not __fish_seen_subcommand_from token" -l max-tokens -d 'Most tokens of an answer if the caller does not say, 256 to 20000 [env: MK_MCP_MAX_TOKENS] [default: 4000]' -r
complete -c mk -n "__fish_mk_using_subcommand mcp; and not __fish_seen_subcommand_from token" -l http -d 'Serve streamable HTTP there instead; port 0 picks one, which is said on stderr' -r
complete -c mk -n "__fish_mk_using_subcommand mcp; and not __fish_seen_subcommand_from token" -l tokens -d 'Who may speak to it: lines AGENT_ID TOKEN, see `mk mcp token`' -r -F
complete -c mk -n "__fish_mk_using_subcommand mcp; and not __fish_seen_subcommand_from token" -l compat -d 'Serve the tools of another program instead, under their names, for prompts that know those' -r -f -a "memkernel\t'MemKernel 0.3.0'
memkraft\t'MemKraft 4.5.0: what can be asked of the execution protocol'"
complete -c mk -n "__fish_mk_using_subcommand mcp; and not __fish_seen_subcommand_from token" -l log-level -d 'How much is said on stderr: error, warn, info, debug or trace [env: MK_LOG] [default: warn]' -r
complete -c mk -n "__fish_mk_using_subcommand mcp; and not __fish_seen_subcommand_from token" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand mcp; and not __fish_seen_subcommand_from token" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand mcp; and not __fish_seen_subcommand_from token" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand mcp; and not __fish_seen_subcommand_from token" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand mcp; and not __fish_seen_subcommand_from token" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand mcp; and not __fish_seen_subcommand_from token" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand mcp; and not __fish_seen_subcommand_from token" -l read-only -d 'Write nothing, and offer no tool that does [env: MK_READ_ONLY]'
complete -c mk -n "__fish_mk_using_subcommand mcp; and not __fish_seen_subcommand_from token" -l no-news -d 'Do not tell with each answer what others did'
complete -c mk -n "__fish_mk_using_subcommand mcp; and not __fish_seen_subcommand_from token" -l no-auth -d 'Let whoever is on this machine speak to it'
complete -c mk -n "__fish_mk_using_subcommand mcp; and not __fish_seen_subcommand_from token" -l listen-anywhere -d 'Let other machines reach it'
complete -c mk -n "__fish_mk_using_subcommand mcp; and not __fish_seen_subcommand_from token" -l create -d 'Make the project in this directory even if it is no git work tree'
complete -c mk -n "__fish_mk_using_subcommand mcp; and not __fish_seen_subcommand_from token" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand mcp; and not __fish_seen_subcommand_from token" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand mcp; and not __fish_seen_subcommand_from token" -f -a "token" -d 'Make a line for the file that --tokens names'
complete -c mk -n "__fish_mk_using_subcommand mcp; and __fish_seen_subcommand_from token" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand mcp; and __fish_seen_subcommand_from token" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand mcp; and __fish_seen_subcommand_from token" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand mcp; and __fish_seen_subcommand_from token" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand mcp; and __fish_seen_subcommand_from token" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand mcp; and __fish_seen_subcommand_from token" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand mcp; and __fish_seen_subcommand_from token" -s h -l help -d 'Print help'
complete -c mk -n "__fish_mk_using_subcommand verify" -l anchor -d 'Lines that `mk anchor` printed, which must hold; # begins a comment' -r -F
complete -c mk -n "__fish_mk_using_subcommand verify" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand verify" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand verify" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand verify" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand verify" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand verify" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand verify" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand anchor" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand anchor" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand anchor" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand anchor" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand anchor" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand anchor" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand anchor" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand anchor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand erase" -s m -l message -d 'Why; it stays readable' -r
complete -c mk -n "__fish_mk_using_subcommand erase" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand erase" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand erase" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand erase" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand erase" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand erase" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand erase" -l copies -d 'Erase the events that repeat them, too'
complete -c mk -n "__fish_mk_using_subcommand erase" -l finish -d 'Erase nothing; take out the last bytes of what was erased when somebody was reading'
complete -c mk -n "__fish_mk_using_subcommand erase" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand erase" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand backup" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand backup" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand backup" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand backup" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand backup" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand backup" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand backup" -l force -d 'Replace FILE'
complete -c mk -n "__fish_mk_using_subcommand backup" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand backup" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand restore" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand restore" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand restore" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand restore" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand restore" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand restore" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand restore" -l force -d 'Restore even if events are lost, or the store cannot be read; it is kept in a file beside'
complete -c mk -n "__fish_mk_using_subcommand restore" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand export" -l only -d 'Only the lineage of BRANCH, as with --branch; can be repeated' -r
complete -c mk -n "__fish_mk_using_subcommand export" -l since -d 'Only what came into this store after REV' -r
complete -c mk -n "__fish_mk_using_subcommand export" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand export" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand export" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand export" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand export" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand export" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand export" -l log-order -d 'In the order of the local log, with a last line for its hash'
complete -c mk -n "__fish_mk_using_subcommand export" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand import; and not __fish_seen_subcommand_from memkernel" -l prefix -d 'Put PREFIX before the names of branches that are new here' -r
complete -c mk -n "__fish_mk_using_subcommand import; and not __fish_seen_subcommand_from memkernel" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand import; and not __fish_seen_subcommand_from memkernel" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand import; and not __fish_seen_subcommand_from memkernel" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand import; and not __fish_seen_subcommand_from memkernel" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand import; and not __fish_seen_subcommand_from memkernel" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand import; and not __fish_seen_subcommand_from memkernel" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand import; and not __fish_seen_subcommand_from memkernel" -s n -l dry-run -d 'Say what would be done, and do nothing'
complete -c mk -n "__fish_mk_using_subcommand import; and not __fish_seen_subcommand_from memkernel" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand import; and not __fish_seen_subcommand_from memkernel" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand import; and not __fish_seen_subcommand_from memkernel" -a "memkernel" -d 'Import the database of a MemKernel project'
complete -c mk -n "__fish_mk_using_subcommand import; and __fish_seen_subcommand_from memkernel" -l prefix -d 'Name branch `b` of the source `PREFIX/b`; needed where the project has events of its own' -r
complete -c mk -n "__fish_mk_using_subcommand import; and __fish_seen_subcommand_from memkernel" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand import; and __fish_seen_subcommand_from memkernel" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand import; and __fish_seen_subcommand_from memkernel" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand import; and __fish_seen_subcommand_from memkernel" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand import; and __fish_seen_subcommand_from memkernel" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand import; and __fish_seen_subcommand_from memkernel" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand import; and __fish_seen_subcommand_from memkernel" -l allow-corrupt -d 'Of a broken branch, import the events before the first bad one'
complete -c mk -n "__fish_mk_using_subcommand import; and __fish_seen_subcommand_from memkernel" -l dry-run -d 'Show what would be done, and write nothing'
complete -c mk -n "__fish_mk_using_subcommand import; and __fish_seen_subcommand_from memkernel" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand import; and __fish_seen_subcommand_from memkernel" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand attach" -l scope -d 'Their files in the project, or those of the user [default: the project, where they have one]' -r
complete -c mk -n "__fish_mk_using_subcommand attach" -l name -d 'The name of the entry' -r
complete -c mk -n "__fish_mk_using_subcommand attach" -l agent-id -d 'Who the agent is, instead of its own name' -r
complete -c mk -n "__fish_mk_using_subcommand attach" -l command -d 'The program in the entry [default: `mk` in the project, this one\'s path in files of the user]' -r
complete -c mk -n "__fish_mk_using_subcommand attach" -l tools -d 'The tools that are offered, as `mk mcp --tools` takes them' -r
complete -c mk -n "__fish_mk_using_subcommand attach" -l print -d 'Print the entry for AGENT, and write nothing' -r
complete -c mk -n "__fish_mk_using_subcommand attach" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand attach" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand attach" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand attach" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand attach" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand attach" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand attach" -l all -d 'Every agent that mk knows well'
complete -c mk -n "__fish_mk_using_subcommand attach" -s n -l dry-run -d 'Only print what would change'
complete -c mk -n "__fish_mk_using_subcommand attach" -l detected -d 'The agents that are found here'
complete -c mk -n "__fish_mk_using_subcommand attach" -l hooks -d 'Also let the agent take leases before it edits, and record what it runs, through its hooks'
complete -c mk -n "__fish_mk_using_subcommand attach" -l shared -d 'With --hooks, for all who have the repository, and not only for you'
complete -c mk -n "__fish_mk_using_subcommand attach" -l instructions -d 'Also add a block about the memory to the agent\'s instruction file'
complete -c mk -n "__fish_mk_using_subcommand attach" -l portable -d 'Write `mk` in files of the user too'
complete -c mk -n "__fish_mk_using_subcommand attach" -l read-only -d 'Offer only tools that read'
complete -c mk -n "__fish_mk_using_subcommand attach" -l approve -d 'Let the agent call the tools without asking'
complete -c mk -n "__fish_mk_using_subcommand attach" -l experimental -d 'Also agents of which only others\' documentation is known'
complete -c mk -n "__fish_mk_using_subcommand attach" -l list -d 'List every agent that mk knows'
complete -c mk -n "__fish_mk_using_subcommand attach" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand attach" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand detach" -l scope -d 'Their files in the project, or those of the user [default: the project, where they have one]' -r
complete -c mk -n "__fish_mk_using_subcommand detach" -l name -d 'The name of the entry' -r
complete -c mk -n "__fish_mk_using_subcommand detach" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand detach" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand detach" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand detach" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand detach" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand detach" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand detach" -l all -d 'Every agent that mk knows well'
complete -c mk -n "__fish_mk_using_subcommand detach" -s n -l dry-run -d 'Only print what would change'
complete -c mk -n "__fish_mk_using_subcommand detach" -l force -d 'Also what somebody changed'
complete -c mk -n "__fish_mk_using_subcommand detach" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand detach" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand hook" -l recipe -d 'Print a recipe, to be set up by hand' -r -f -a "git-pre-commit\t''
git-post-commit\t''
git-post-merge\t''
git-post-checkout\t''
bash\t''
zsh\t''
fish\t''
ci\t''
wrapper\t''"
complete -c mk -n "__fish_mk_using_subcommand hook" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand hook" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand hook" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand hook" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand hook" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand hook" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand hook" -l warn -d 'With git-pre-commit, only say so'
complete -c mk -n "__fish_mk_using_subcommand hook" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand hook" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand doctor" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand doctor" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand doctor" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand doctor" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand doctor" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand doctor" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand doctor" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand config" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand config" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand config" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand config" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand config" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand config" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand config" -l unset -d 'Go back to the default'
complete -c mk -n "__fish_mk_using_subcommand config" -l list -d 'Print all that are set'
complete -c mk -n "__fish_mk_using_subcommand config" -s z -d 'With --list, end each with a NUL instead of a line break'
complete -c mk -n "__fish_mk_using_subcommand config" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand config" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand demo" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand demo" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand demo" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand demo" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand demo" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand demo" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand demo" -l keep -d 'Keep the project, and say where it is'
complete -c mk -n "__fish_mk_using_subcommand demo" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand demo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mk -n "__fish_mk_using_subcommand completions" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand completions" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand completions" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand completions" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand completions" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand completions" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand completions" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand completions" -s h -l help -d 'Print help'
complete -c mk -n "__fish_mk_using_subcommand generate" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand generate" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand generate" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand generate" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand generate" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand generate" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand generate" -l check -d 'Write nothing, and exit with 1 if a file would change'
complete -c mk -n "__fish_mk_using_subcommand generate" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand generate" -s h -l help -d 'Print help'
complete -c mk -n "__fish_mk_using_subcommand help" -s C -d 'Run as if started in DIR' -r -F
complete -c mk -n "__fish_mk_using_subcommand help" -l db -d 'The store, instead of the one of the project around [env: MK_DB]' -r -F
complete -c mk -n "__fish_mk_using_subcommand help" -l agent -d 'Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]' -r
complete -c mk -n "__fish_mk_using_subcommand help" -l branch -d 'The branch to work on [env: MK_BRANCH] [default: the current one]' -r
complete -c mk -n "__fish_mk_using_subcommand help" -l lock-timeout -d 'How long to wait for other writers, 0 to 86400 [default: 15]' -r
complete -c mk -n "__fish_mk_using_subcommand help" -l color -d 'When to colour text for people' -r -f -a "auto\t''
always\t''
never\t''"
complete -c mk -n "__fish_mk_using_subcommand help" -l json -d 'Answer in JSON'
complete -c mk -n "__fish_mk_using_subcommand help" -s h -l help -d 'Print help'
