#pragma once

namespace fmbem {

/// Where data are and what works on them.
enum class Processor { cpu, gpu };

}  // namespace fmbem
