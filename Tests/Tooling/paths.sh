# Sourced by all scripts below Tests, in the checkout. The two paths that they share:
#   BOXOFFICE_TEST_BUNDLE   the Swift tests; default: those of the build for development
#   BOXOFFICE_BINARIES      folder of the programs under test; default: those of the build for development, where a suite measures those of the release build
export BOXOFFICE_TEST_BUNDLE=${BOXOFFICE_TEST_BUNDLE:-$PWD/.build/debug/boxofficePackageTests.xctest}

# The default of BOXOFFICE_BINARIES.
built_programs() { export BOXOFFICE_BINARIES=${BOXOFFICE_BINARIES:-$(readlink -f .build/debug)}; }

# release_programs SUITE [PARTS]: the same for a suite whose figures mean something on release programs alone. Builds the parts where nothing is given; refuses other
# programs.
release_programs() {
    if [ -z "${BOXOFFICE_BINARIES:-}" ]; then
        Shared/Tooling/build --release "${2:-programs}" >&2
        BOXOFFICE_BINARIES=$(readlink -f .build/release)
    fi
    export BOXOFFICE_BINARIES
    local told
    told=$("$BOXOFFICE_BINARIES/boxoffice" --version) || { echo "$1: there are no programs in $BOXOFFICE_BINARIES (BOXOFFICE_BINARIES)" >&2; exit 1; }
    case $told in
    *'release build'*) ;;
    *) echo "$1 needs release programs; $BOXOFFICE_BINARIES (BOXOFFICE_BINARIES) has $told" >&2; exit 1 ;;
    esac
}
