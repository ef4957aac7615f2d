// A capacitor with a floating plate between its plates, in mm: a quarter of it, between the mirrors
// x = 0 and y = 0.
SetFactory("OpenCASCADE");
half_width = 10;
Rectangle(1) = {0, 0, 0, half_width, half_width};
Rectangle(2) = {0, 0, 1, half_width, half_width};
Rectangle(3) = {0, 0, 3, half_width, half_width};
Physical Surface("lower") = {1};
Physical Surface("floating") = {2};
Physical Surface("upper") = {3};
