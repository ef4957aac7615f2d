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

/// A case for an option that takes a value: its words, files, folders, or nothing that is known.
void add_value_case(std::ostream& out, const std::string& command, const CLI::Option& option) {
  const std::vector<std::string> names = names_of(option);
  if (names.empty() || option.get_items_expected_max() == 0) return;
  std::vector<std::string> patterns;
  const std::string before = "'" + command + " ";
  for (const std::string& name : names) patterns.push_back(before + name + "'");
  out << "    " << joined(patterns, " | ") << ")\n      ";
  const std::vector<std::string> words = choices_of(option);
  const std::string type = option.get_type_name();
  if (!words.empty())
    out << "mapfile -t COMPREPLY < <(compgen -W '" << joined(words, " ") << "' -- \"$word\")\n";
  else if (type == "FILE" || type == "DIR")
    out << "mapfile -t COMPREPLY < <(compgen -" << (type == "FILE" ? 'f' : 'd')
        << " -- \"$word\")\n";
  else
    out << "COMPREPLY=()\n";
  out << "      return ;;\n";
}

}  // namespace

std::string bash_completion(const CLI::App& program) {
  std::ostringstream values, options;
  std::vector<std::string> commands;
  for (const CLI::App* command : commands_of(program)) {
    const std::string& name = command->get_name();
    commands.push_back(name);
    std::vector<std::string> names;
    for (const CLI::Option* option : command->get_options()) {
      const std::vector<std::string> own = names_of(*option);
      names.insert(names.end(), own.begin(), own.end());
      add_value_case(values, name, *option);
    }
    options << "    " << name << ") options='" << joined(names, " ") << "' ;;\n";
  }
  const std::string all = joined(commands, " ");
  std::ostringstream out;
  out << "# Completion of fmbem for bash; made by: fmbem completion bash\n"
         "_fmbem() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} options=\n"
         "  local command=${COMP_WORDS[1]}\n"
         "  if ((COMP_CWORD == 1)) || [[ $command == help ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W '"
      << all
      << " --help --version --man' -- \"$word\")\n"
         "    return\n"
         "  fi\n"
         "  case \"$command $before\" in\n"
      << values.str()
      << "  esac\n"
         "  case $command in\n"
      << options.str()
      << "  esac\n"
         "  if [[ $word == -* ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
         "  else\n"
         "    mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
         "  fi\n"
         "}\n"
         "complete -o filenames -F _fmbem fmbem\n";
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
