/**
 * The completion of each shell asks `doorstep __complete` with the words so far, the last one being
 * the word that is completed. It answers with a line a candidate, a tab before its description, and
 * with `:files` alone where the shell completes names of files.
 */
const bash = `# Completion of doorstep for bash.
_doorstep() {
  # A colon is a part of a word here, unlike in COMP_WORDS.
  local cur=\${COMP_WORDS[COMP_CWORD]} line candidates=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o filenames
      while IFS= read -r line; do candidates+=("$line"); done < <(compgen -f -- "$cur")
    else
      candidates+=("\${line%%$'\\t'*}")
    fi
  done < <(doorstep __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  COMPREPLY=("\${candidates[@]}")
}
complete -F _doorstep doorstep
`;

const zsh = `#compdef doorstep
# Completion of doorstep for zsh.
_doorstep() {
  local line value
  local -a candidates
  for line in "\${(@f)$(doorstep __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ $line == :files ]]; then
      _files
    elif [[ -n $line ]]; then
      value=\${line%%$'\\t'*}
      value=\${value//:/\\\\:}
      if [[ $line == *$'\\t'* ]]; then candidates+=("$value:\${line#*$'\\t'}"); else candidates+=("$value"); fi
    fi
  done
  (( \${#candidates} )) && _describe -V doorstep candidates
}
# Read by compinit from a folder of $fpath, or by "source".
if [[ $funcstack[1] == _doorstep ]]; then _doorstep "$@"; else compdef _doorstep doorstep; fi
`;

const fish = `# Completion of doorstep for fish.
function __doorstep_complete
  set -l words (commandline -opc) (commandline -ct)
  for line in (doorstep __complete $words[2..-1] 2>/dev/null)
    if test "$line" = :files
      __fish_complete_path (commandline -ct)
    else
      printf '%s\\n' $line
    end
  end
end
complete -c doorstep -f -a '(__doorstep_complete)'
`;

export const completionScripts = { bash, zsh, fish } as const;
