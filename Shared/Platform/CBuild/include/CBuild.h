#pragma once

// The commit that the program was built from, as hexadecimal digits; empty: a build of a working copy. See BOXOFFICE_COMMIT in Package.swift.
const char *boxoffice_build_commit(void);
