# Completion of zkchat for Fish, printed by `zkchat config completion fish`.
function __zkchat_complete
    set -l words (commandline -opc)
    set -l program zkchat
    if string match -q '*/*' -- $words[1]
        set program (string replace -r '^~/' "$HOME/" -- $words[1])
    end
    set -e words[1]
    set -l lines (env _ZKCHAT_COMPLETE=complete_fish $program $words (commandline -ct) 2>/dev/null </dev/null)
    set -l mode $lines[1]
    set -e lines[1]
    switch "$mode"
        case files
            __fish_complete_path (string unescape -- (commandline -ct))
        case folders
            __fish_complete_directories (commandline -ct)
        case words open
            string join \n -- $lines
    end
end

complete --command zkchat --no-files --keep-order --arguments '(__zkchat_complete)'
