// swift-tools-version: 6.2
import PackageDescription

// The libraries that apps link, as a package of its own: it depends on no other package. The root's `Package.swift` has the same targets over the
// same sources, for the programs and the tests of this repository; `Tests/Tooling/ClientPackage/manifests.py` compares the two. `Octets` is a link: a
// manifest may not name folders outside its own.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6), .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("ExistentialAny"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "boxoffice-client",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .visionOS(.v2)],
    products: [
        .library(name: "EntitlementClient", targets: ["EntitlementClient"]),
        .library(name: "AccessEnabler", targets: ["AccessEnabler"]),
        .library(name: "EntitlementSimulator", targets: ["EntitlementSimulator"]),
    ],
    targets: [
        .target(name: "Octets", path: "Octets", swiftSettings: strict),
        // Hashes: of libcrypto on Linux, of CryptoKit on Apple platforms.
        .systemLibrary(name: "CLibcrypto", path: "CLibcrypto"),
        .target(
            name: "EntitlementClient", dependencies: ["Octets", .target(name: "CLibcrypto", condition: .when(platforms: [.linux]))],
            path: "EntitlementClient", swiftSettings: strict),
        .target(name: "AccessEnabler", dependencies: ["EntitlementClient", "Octets"], path: "AccessEnabler", swiftSettings: strict),
        .target(name: "EntitlementSimulator", dependencies: ["EntitlementClient", "Octets"], path: "EntitlementSimulator", swiftSettings: strict),
    ]
)
