#include <memory>
#include <sstream>

#include "cli/common_options.hpp"
#include "cli/help.hpp"
#include "cli/program.hpp"

namespace fmbem::cli {
namespace {

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) (text += text.empty() ? "" : between) += word;
  return text;
}

/// What completes a value of this type: a function of the script.
std::string completer_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (const std::vector<std::string> words = choices_of(option); !words.empty())
    return "_fmbem_words '" + joined(words, " ") + "'";
  if (type == "DIR") return "_fmbem_paths -d";
  if (type == "PICTURE" || type.find("FILE") != type.npos) return "_fmbem_paths -f";
  return "COMPREPLY=()";
}

/// A case for an option that takes a value.
void add_value_case(std::ostream& out, const std::string& command, const CLI::Option& option) {
  const std::vector<std::string> names = names_of(option);
  if (names.empty() || option.get_items_expected_max() == 0) return;
  std::vector<std::string> patterns;
  const std::string before = "'" + command + " ";
  for (const std::string& name : names) patterns.push_back(before + name + "'");
  out << "    " << joined(patterns, " | ") << ")\n      " << completer_of(option)
      << "\n      return ;;\n";
}

/// The words for what of a command is no option, if there are some.
std::vector<std::string> words_of(const CLI::App& command,
                                  const std::vector<std::string>& commands) {
  if (command.get_name() == "help") return commands;
  for (const CLI::Option* option : command.get_options())
    if (option->get_positional())
      if (std::vector<std::string> words = choices_of(*option); !words.empty()) return words;
  return {};
}

}  // namespace

std::string bash_completion(const CLI::App& program) {
  std::vector<std::string> commands;
  for (const CLI::App* command : commands_of(program)) commands.push_back(command->get_name());
  std::ostringstream values, cases;
  for (const CLI::App* command : commands_of(program)) {
    const std::string& name = command->get_name();
    std::vector<std::string> names;
    for (const CLI::Option* option : command->get_options()) {
      const std::vector<std::string> own = names_of(*option);
      names.insert(names.end(), own.begin(), own.end());
      add_value_case(values, name, *option);
    }
    cases << "    " << name << ")\n      options='" << joined(names, " ") << "'\n      words='"
          << joined(words_of(*command, commands), " ") << "' ;;\n";
  }
  std::ostringstream out;
  out << "# Completion of fmbem for bash; made by: fmbem completion bash\n"
         "# Of a list, what is behind its last comma.\n"
         "_fmbem_words() {\n"
         "  local last=${word##*,}\n"
         "  mapfile -t COMPREPLY < <(compgen -P \"${word%\"$last\"}\" -W \"$1\" -- \"$last\")\n"
         "}\n"
         "_fmbem_paths() {\n"
         "  # Names of folders end with a slash. Outside of a completion compopt has nothing to "
         "do.\n"
         "  compopt -o filenames 2>/dev/null || :\n"
         "  mapfile -t COMPREPLY < <(compgen \"$1\" -- \"$word\")\n"
         "}\n"
         "_fmbem() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
         "  local command=${COMP_WORDS[1]} options= words=\n"
         "  # bash makes three words of --option=value\n"
         "  if [[ $word == = ]]; then\n"
         "    word=\n"
         "  elif [[ $before == = ]]; then\n"
         "    before=${COMP_WORDS[COMP_CWORD - 2]}\n"
         "  fi\n"
         "  if ((COMP_CWORD == 1)); then\n"
         "    _fmbem_words '"
      << joined(commands, " ")
      << " --help --version'\n"
         "    return\n"
         "  fi\n"
         "  case \"$command $before\" in\n"
      << values.str()
      << "  esac\n"
         "  case $command in\n"
      << cases.str()
      << "  esac\n"
         "  if [[ $word == -* ]]; then\n"
         "    _fmbem_words \"$options\"\n"
         "  elif [[ $words ]]; then\n"
         "    _fmbem_words \"$words\"\n"
         "  else\n"
         "    _fmbem_paths -f\n"
         "  fi\n"
         "}\n"
         "complete -F _fmbem fmbem\n";
  return out.str();
}

namespace {

struct CompletionArguments {
  std::string shell;
};

}  // namespace

Command add_completion(CLI::App& program) {
  auto options = std::make_shared<CompletionArguments>();
  CLI::App* app = program.add_subcommand("completion", "Write a completion script for a shell");
  app->footer("Example:\n  fmbem completion bash");
  app->add_option("SHELL", options->shell, "which")->required()->check(CLI::IsMember({"bash"}));
  // CLI11 writes the word into the options until the command runs: they live as long as this does.
  return {app, [options](Context& context) {
            CLI::App all;
            describe_program(all);
            context.console.write_stdout(bash_completion(all));
            return ExitCode::solved;
          }};
}

}  // namespace fmbem::cli
