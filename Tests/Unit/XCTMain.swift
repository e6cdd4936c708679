// With an entry point of its own the bundle of tests needs no search for tests of XCTest, of which there are none. That search would need an index
// (Shared/Tooling/build).
import Testing

await Testing.__swiftPMEntryPoint() as Never
