// The boundary operator in a Krylov solver of one's own: example_petsc_shell MESH [PETSc options]
#include <exception>
#include <iostream>

#include "fmbem/meshes/load.hpp"
#include "fmbem/solvers/shell_matrix.hpp"

int main(int argc, char** argv) {
  PetscCall(PetscInitialize(&argc, &argv, nullptr, nullptr));
  PetscCheck(argc > 1, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "usage: example_petsc_shell MESH");
  try {
    const fmbem::Panels panels = fmbem::make_panels(fmbem::load_mesh(argv[1]));
    const auto v = fmbem::make_single_layer(panels);
    fmbem::ShellMatrix shell(v);

    KSP ksp = nullptr;
    Vec sigma = nullptr, phi = nullptr;
    PetscInt iterations = 0;
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    PetscCall(MatCreateVecs(shell.mat(), &sigma, &phi));
    PetscCall(VecSet(phi, 1.0));
    PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
    PetscCall(KSPSetOperators(ksp, shell.mat(), shell.mat()));
    PC pc = nullptr;
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCJACOBI));  // -pc_type may say otherwise
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPSolve(ksp, phi, sigma));
    PetscCall(KSPGetIterationNumber(ksp, &iterations));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    std::cout << panels.size() << " panels, " << iterations << " iterations, "
              << KSPConvergedReasons[reason] << '\n';
    PetscCall(VecDestroy(&sigma));
    PetscCall(VecDestroy(&phi));
    PetscCall(KSPDestroy(&ksp));
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 2;
  }
  PetscCall(PetscFinalize());
  return 0;
}
