// A post insulator between two round electrodes, in mm: a quarter of its upper half. The plane z = 0
// through its middle is at 0 V, x = 0 and y = 0 are mirrors.
SetFactory("OpenCASCADE");
post = 20;       // radii
electrode = 80;
half_height = 20;
Point(1) = {post, 0, 0};
Point(2) = {post, 0, half_height};
Point(3) = {0, 0, half_height};
Point(4) = {electrode, 0, half_height};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {4, 2};
Extrude{ {0, 0, 1}, {0, 0, 0}, Pi/2 }{ Curve{1}; }
side() = Surface{:};
Extrude{ {0, 0, 1}, {0, 0, 0}, Pi/2 }{ Curve{2}; }
cap() = Surface{:};
cap() -= side();
Extrude{ {0, 0, 1}, {0, 0, 0}, Pi/2 }{ Curve{3}; }
rim() = Surface{:};
rim() -= {side(), cap()};
Coherence;
Physical Surface("side") = {side()};
Physical Surface("cap") = {cap()};
Physical Surface("rim") = {rim()};
