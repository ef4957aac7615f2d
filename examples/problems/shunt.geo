// A shunt for measuring currents, in mm: a bar of a resistance alloy between two contacts.
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 20, 5, 2};
e = 1e-3;
left() = Surface In BoundingBox{-e, -e, -e, e, 5 + e, 2 + e};
right() = Surface In BoundingBox{20 - e, -e, -e, 20 + e, 5 + e, 2 + e};
sides() = Surface{:};
sides() -= {left(), right()};
Physical Surface("left") = {left()};
Physical Surface("right") = {right()};
Physical Surface("sides") = {sides()};
