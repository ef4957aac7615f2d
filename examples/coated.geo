// A conducting ball in a dielectric coat: fmbem capacitance coated.geo --problem coated.json
SetFactory("OpenCASCADE");
Sphere(1) = {0, 0, 0, 1};
Sphere(2) = {0, 0, 0, 2};
Physical Surface("ball") = {1};
Physical Surface("coat") = {2};
