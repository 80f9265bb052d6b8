// The scripts that a shell loads once. They run realmctl at each Tab, because only the program knows its words. Each
// line of its output is a word, a tab, and the word's meaning; `:files` asks the shell to complete file names.

const bash = `# realmctl completion for bash: source <(realmctl completion bash)
_realmctl() {
  local line
  local words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  # --output=js comes as three words
  [[ \${words[\${#words[@]}-1]} == '=' ]] && words+=('')
  local typed=\${words[\${#words[@]}-1]}
  COMPREPLY=()
  while IFS=$'\\t' read -r line _; do
    if [[ $line == ':files' ]]; then
      compopt -o default 2>/dev/null # bash 4 and newer
      return
    fi
    [[ $line == "$typed"* ]] && COMPREPLY+=("$(printf '%q' "$line")")
  done < <("\${COMP_WORDS[0]}" completion words -- "\${words[@]}" 2>/dev/null)
}
complete -F _realmctl realmctl
`;

const zsh = `#compdef realmctl
# realmctl completion for zsh: source <(realmctl completion zsh), behind compinit
_realmctl() {
  local line
  local -a found
  while IFS= read -r line; do
    if [[ $line == ':files' ]]; then
      _files
      return
    fi
    found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done < <("\${words[1]}" completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  _describe 'realmctl' found
}
compdef _realmctl realmctl
`;

const fish = `# realmctl completion for fish: realmctl completion fish | source
function __realmctl_complete
  set -l words (commandline -opc) (commandline -ct)
  for line in ($words[1] completion words -- $words[2..-1] 2>/dev/null)
    if test "$line" = ':files'
      __fish_complete_path (commandline -ct)
    else
      echo $line
    end
  end
end
complete -c realmctl -f -a '(__realmctl_complete)'
`;

export const scripts = { bash, zsh, fish };
export type Shell = keyof typeof scripts;
