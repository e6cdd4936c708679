// swift-tools-version: 6.0
import PackageDescription

// Apps as they were written to the vendor's SDK, in Swift 5: they import `AccessEnabler` and nothing else of this repository.
let package = Package(
    name: "access-enabler-apps",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "boxoffice", path: "../../..")],
    targets: [
        .executableTarget(name: "SportsApp", dependencies: [.product(name: "AccessEnabler", package: "boxoffice")])
    ],
    swiftLanguageModes: [.v5]
)
