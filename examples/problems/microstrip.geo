// A microstrip line on a board over a ground plane, in mm: a quarter of it. The planes x = 0 and y = 0
// are mirrors and z = 0 is the ground, so none of them is meshed, and the strip is 2 length long and
// 2 half_width wide. Two lengths tell the capacitance per length without that of the ends:
// --set length=10 and --set length=20.
SetFactory("OpenCASCADE");
DefineConstant[ length = 10 ];
half_width = 0.9;
thickness = 0.813;  // of the board
margin = 5;         // from the strip to the edges of the board
e = 1e-3;

Box(1) = {0, 0, 0, length + margin, half_width + margin, thickness};
Rectangle(100) = {0, 0, thickness, length, half_width};
BooleanFragments{ Volume{1}; Delete; }{ Surface{100}; Delete; }
strip() = Surface In BoundingBox{-e, -e, thickness - e, length + e, half_width + e, thickness + e};
top() = Surface In BoundingBox{-e, -e, thickness - e, length + margin + e, half_width + margin + e, thickness + e};
top() -= strip();
end() = Surface In BoundingBox{length + margin - e, -e, -e, length + margin + e, half_width + margin + e, thickness + e};
side() = Surface In BoundingBox{-e, half_width + margin - e, -e, length + margin + e, half_width + margin + e, thickness + e};
// What lies in the planes is not meshed.
rest() = Surface{:};
rest() -= {strip(), top(), end(), side()};
Delete{ Volume{:}; Surface{rest()}; }
MeshSize{ PointsOf{ Surface{top(), end(), side()}; } } = 1.2;
MeshSize{ PointsOf{ Surface{strip()}; } } = 0.18;
Physical Surface("strip") = {strip()};
Physical Surface("board") = {top(), end(), side()};
