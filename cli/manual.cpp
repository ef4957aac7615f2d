#include <sstream>

#include "cli/help.hpp"

namespace fmbem::cli {
namespace {

/// Text as roff has it: dashes that stay dashes, and no line that begins with a request.
std::string roff(const std::string& text) {
  std::string result;
  bool at_start = true;
  for (const char c : text) {
    if (at_start && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
    at_start = c == '\n';
  }
  return result;
}

void add_option(std::ostream& out, const CLI::Option& option) {
  const bool is_positional = option.get_snames().empty() && option.get_lnames().empty();
  out << ".TP\n\\fB" << roff(option.get_name(is_positional, !is_positional)) << "\\fR";
  const std::string value = is_positional ? "" : value_of(option);
  if (!value.empty()) out << " \\fI" << roff(value) << "\\fR";
  out << '\n' << roff(option.get_description());
  if (const std::string preset = option.get_default_str(); !preset.empty())
    out << " (default: " << roff(preset) << ')';
  out << '\n';
}

void add_command(std::ostream& out, const CLI::App& command) {
  out << ".SS fmbem " << roff(command.get_name()) << '\n'
      << roff(command.get_description()) << ".\n";
  for (const CLI::Option* option : command.get_options()) add_option(out, *option);
  if (command.get_footer().empty()) return;
  out << ".PP\n.nf\n" << roff(command.get_footer()) << "\n.fi\n";
}

}  // namespace

std::string manual_page(const CLI::App& program) {
  std::ostringstream out;
  out << ".TH FMBEM 1 \"\" \"fmbem " << FMBEM_VERSION << "\" \"User Commands\"\n"
      << ".SH NAME\nfmbem \\- " << roff(program.get_description()) << '\n'
      << ".SH SYNOPSIS\n.B fmbem\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n"
      << ".SH DESCRIPTION\n"
      << roff(program.get_footer()) << '\n'
      << ".SH COMMANDS\n";
  for (const CLI::App* command : commands_of(program)) add_command(out, *command);
  out << ".SH EXIT STATUS\n"
         "0 solved, 1 internal error, 2 bad input, 3 not converged, 4 out of memory or disk, 130 "
         "interrupted (129, 143 and 152 by SIGHUP, SIGTERM and a limit on processor time).\n"
         ".SH ENVIRONMENT\n"
         ".TP\nFMBEM_GPU_RATES\nThe table of fmbem tune for the GPU.\n"
         ".TP\nFMBEM_PICTURE\nThe program that draws pictures, fmbem\\-picture.\n"
         ".TP\nFMBEM_RATES\nThe table of fmbem tune.\n"
         ".TP\nFMBEM_READER\nThe program that reads files and writes .msh, fmbem\\-reader.\n"
         ".TP\nNO_COLOR\nIf it is set, no colours on a terminal.\n"
         ".TP\nOMP_NUM_THREADS\nThreads where \\-\\-threads does not say.\n"
         ".TP\nPETSC_OPTIONS\nOptions of PETSc.\n";
  return out.str();
}

}  // namespace fmbem::cli
