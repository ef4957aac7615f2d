#pragma once

#include <string>

/// A .msh of format 2.2: `nodes` and `elements` are lines, of which the counts are given.
inline std::string msh2(int n_nodes, const std::string& nodes, int n_elements,
                        const std::string& elements) {
  return "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n" + std::to_string(n_nodes) + "\n" + nodes +
         "$EndNodes\n$Elements\n" + std::to_string(n_elements) + "\n" + elements + "$EndElements\n";
}

inline const std::string tetrahedron_nodes = "1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n";

/// A tetrahedron of volume 1/6, of which the face 12 points inwards.
inline const std::string tetrahedron =
    msh2(4, tetrahedron_nodes, 4,
         "11 2 2 0 1 1 3 2\n12 2 2 0 1 1 4 2\n13 2 2 0 1 1 4 3\n14 2 2 0 1 2 3 4\n");
