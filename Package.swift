// swift-tools-version: 6.2
import PackageDescription

// What is built beside the libraries and the seven programs: everything, unless BOXOFFICE_PARTS lists parts, for example `programs,chaos`.
// Another list compiles nothing anew of what both have, but in release builds for a list with `chaos`: see `outerLibrary`.
let parts: Set<String> = {
    let all: Set = ["programs", "chaos", "mutations", "benchmarks", "tests"]
    guard let list = Context.environment["BOXOFFICE_PARTS"], !list.isEmpty else { return all }
    let chosen = Set(list.split(separator: ",").map(String.init))
    let unknown = chosen.subtracting(all).sorted()
    guard unknown.isEmpty else {
        fatalError("BOXOFFICE_PARTS names \(unknown.joined(separator: ", ")); the parts are \(all.sorted().joined(separator: ", "))")
    }
    return chosen
}()

/// A build of what `Tests/run --all` puts under load and breaks; see `outerLibrary`.
let isForTests = parts.contains("chaos") && Context.environment["BOXOFFICE_PARTS"]?.isEmpty == false

func hasAny(_ names: String...) -> Bool { !parts.isDisjoint(with: names) }

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6), .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("ExistentialAny"),
    .treatAllWarnings(as: .error),
]

/// In these targets each file imports `Octets` by itself: `==` on texts compares octets there, not by canonical equivalence. The flag keeps a package
/// from being a dependency, so what apps and verifiers use goes without.
let octets: [SwiftSetting] = [.unsafeFlags(["-Xfrontend", "-import-module", "-Xfrontend", "Octets"])]

// Debian's libxmlsec1 is built with switches that change struct layouts; `pkg-config --cflags xmlsec1-openssl` lists them.
let xmlsecSettings: [CSetting] = [
    .define("XMLSEC_NO_SIZE_T"), .define("XMLSEC_NO_GOST", to: "1"), .define("XMLSEC_NO_GOST2012", to: "1"),
    .define("XMLSEC_NO_CRYPTO_DYNAMIC_LOADING", to: "1"), .define("XMLSEC_CRYPTO_OPENSSL", to: "1"),
    .define("XMLSEC_OPENSSL3_ENGINES", to: "1"),
    .unsafeFlags(["-I/usr/include/libxml2", "-I/usr/include/xmlsec1"]),
]
let xmlsecLibraries: [LinkerSetting] = ["xmlsec1-openssl", "xmlsec1", "xslt", "xml2"].map { .linkedLibrary($0) }

/// A library that apps may use too, or that such a library uses.
func plainLibrary(_ name: String, _ path: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: path, swiftSettings: strict)
}

func library(_ name: String, _ path: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .target(name: name, dependencies: dependencies + ["Octets"], path: path, exclude: exclude, swiftSettings: strict + octets)
}

/// A library on the path of every call. In release builds other modules may inline its functions, and the run-time check of exclusive access
/// is left out: builds for development have it, and tests run on those. Such flags keep a package from being a dependency, so what others use has none.
func wireLibrary(_ name: String, _ path: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    let fast: SwiftSetting = .unsafeFlags(["-cross-module-optimization", "-enforce-exclusivity=unchecked"], .when(configuration: .release))
    return .target(name: name, dependencies: dependencies + ["Octets"], path: path, exclude: exclude, swiftSettings: strict + octets + [fast])
}

/// Where optimising would cost a release build more than anybody ever gains by it.
let plain: SwiftSetting = .unsafeFlags(["-Onone"], .when(configuration: .release))

/// A library that never stands on the path of a call or of a load.
func slowLibrary(_ name: String, _ path: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies + ["Octets"], path: path, swiftSettings: strict + octets + [plain])
}

/// A large library that stands on no path of a call, but on one of a load: only a build whose list of parts names `chaos`, as `Tests/run --all` makes it, goes
/// without the optimiser.
func outerLibrary(_ name: String, _ path: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .target(
        name: name, dependencies: dependencies + ["Octets"], path: path, exclude: exclude,
        swiftSettings: strict + octets + (isForTests ? [plain] : []))
}

// The linker of the toolchain that takes a third less time than its default, where programs are linked again and again.
let quickLinker: [LinkerSetting] = [.unsafeFlags(["-use-ld=lld"], .when(platforms: [.linux], configuration: .debug))]

// In release builds services carry the Swift runtime: at a tenth of what it can do one then needs a sixth less time for a call, and a fifth less memory.
// The libraries refer to one another, and not all of them are named by what imports Foundation.
let carriedRuntime: [LinkerSetting] = [
    .unsafeFlags(
        ["-static-stdlib", "-Xlinker", "--start-group"]
            + [
                "Foundation", "CoreFoundation", "FoundationEssentials", "FoundationInternationalization", "_FoundationICU", "_FoundationCShims",
                "_FoundationCollections", "swiftSynchronization", "swift_RegexParser", "swift_StringProcessing", "swift_Concurrency", "swiftCore",
                "dispatch", "BlocksRuntime",
            ].map { "-l" + $0 } + ["-Xlinker", "--end-group"], .when(platforms: [.linux], configuration: .release))
]

func program(_ name: String, _ path: String, _ dependencies: [Target.Dependency], links: [LinkerSetting] = []) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies + ["Octets"], path: path, swiftSettings: strict + octets, linkerSettings: quickLinker + links)
}

func service(_ name: String, _ path: String, _ dependencies: [Target.Dependency]) -> Target {
    program(name, path, dependencies, links: carriedRuntime)
}

/// - Parameter needs: `Unit`: nothing but itself; `Cluster`: the real programs.
func tests(_ name: String, _ dependencies: [Target.Dependency], needs: String = "Unit", exclude: [String] = []) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, path: "Tests/\(needs)/\(name)", exclude: exclude, swiftSettings: strict, linkerSettings: quickLinker)
}

func cLibrary(_ name: String, _ path: String, _ dependencies: [Target.Dependency] = [], settings: [CSetting] = [], links: [LinkerSetting]) -> Target {
    .target(name: name, dependencies: dependencies, path: path, cSettings: settings, linkerSettings: links)
}

let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioTLS: Target.Dependency = .product(name: "NIOTLS", package: "swift-nio")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioHTTPTypes: Target.Dependency = .product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let nioHTTPTypesHTTP1: Target.Dependency = .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let nioEmbedded: Target.Dependency = .product(name: "NIOEmbedded", package: "swift-nio")
let nioConcurrency: Target.Dependency = .product(name: "NIOConcurrencyHelpers", package: "swift-nio")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "Metrics", package: "swift-metrics")
let coreMetrics: Target.Dependency = .product(name: "CoreMetrics", package: "swift-metrics")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let grdbSqlite: Target.Dependency = .product(name: "GRDBSQLite", package: "GRDB.swift")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore: Target.Dependency = .product(name: "HummingbirdCore", package: "hummingbird")
let hummingbirdHTTP2: Target.Dependency = .product(name: "HummingbirdHTTP2", package: "hummingbird")
let hummingbirdTLS: Target.Dependency = .product(name: "HummingbirdTLS", package: "hummingbird")
let hummingbirdTesting: Target.Dependency = .product(name: "HummingbirdTesting", package: "hummingbird")
let httpClient: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let mustache: Target.Dependency = .product(name: "Mustache", package: "swift-mustache")
let histogram: Target.Dependency = .product(name: "Histogram", package: "hdrhistogram-swift")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
    name: "boxoffice",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .visionOS(.v2)],
    products: [
        .executable(name: "config", targets: ["ConfigMain"]),
        .executable(name: "authentication", targets: ["AuthenticationMain"]),
        .executable(name: "authorization", targets: ["AuthorizationMain"]),
        .executable(name: "autosignin", targets: ["AutoSignInMain"]),
        .executable(name: "gateway", targets: ["GatewayMain"]),
        .executable(name: "sandbox", targets: ["SandboxMain"]),
        .executable(name: "boxoffice", targets: ["BoxofficeMain"]),
        .library(name: "MediaTokenVerifier", targets: ["MediaTokenVerifier"]),
        .library(name: "EntitlementClient", targets: ["EntitlementClient"]),
        .library(name: "AccessEnabler", targets: ["AccessEnabler"]),
        .library(name: "EntitlementSimulator", targets: ["EntitlementSimulator"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.35.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.9.0"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        // Without its traits: two or more reach the compiler in an order that changes by chance, and with it everything would be compiled anew.
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1", traits: []),
        .package(url: "https://github.com/hummingbird-project/swift-mustache.git", from: "2.1.1"),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift.git", from: "0.2.0"),
    ],
    targets: [
        // Shared layers, lowest first; a target may only depend on targets above it in this list.
        plainLibrary("Octets", "Shared/Language/Octets", []),
        plainLibrary("Faults", "Shared/Language/Faults", []),
        plainLibrary("Clocks", "Shared/Language/Clocks", []),
        library("TextEncodings", "Shared/Language/TextEncodings", []),
        wireLibrary("Memos", "Shared/Language/Memos", []),
        plainLibrary("StrictJson", "Shared/Language/StrictJson", ["Octets"]),
        cLibrary("CProtobufC", "Shared/Wire/CProtobufC", links: [.linkedLibrary("protobuf-c")]),
        cLibrary("COpenSSL", "Shared/Platform/COpenSSL", links: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
        cLibrary("CContracts", "Shared/Wire/CContracts", ["CProtobufC"], links: []),
        cLibrary("CResolver", "Shared/Wire/CResolver", links: [.linkedLibrary("resolv")]),
        cLibrary("CMemory", "Shared/Platform/CMemory", links: []),
        cLibrary("CGunzip", "Shared/Platform/CGunzip", links: [.linkedLibrary("z")]),
        // What programs say they were built from. A release names its commit; other builds name none, so that a commit builds nothing anew.
        cLibrary(
            "CBuild", "Shared/Platform/CBuild",
            settings: Context.environment["BOXOFFICE_COMMIT"].map { [.define("BOXOFFICE_COMMIT", to: "\"\($0)\"")] } ?? [], links: []),
        plainLibrary("Cryptography", "Shared/Platform/Cryptography", ["COpenSSL", "Clocks", "Faults", "Octets"]),
        wireLibrary("ContractRuntime", "Shared/Wire/ContractRuntime", ["CProtobufC", "Faults"]),
        library(
            "Contracts", "Shared/Wire/Contracts", ["CContracts", "ContractRuntime", "Faults"],
            exclude: ["Protos", "Released"]),
        library(
            "Catalogue", "Shared/Domain/Catalogue",
            ["ContractRuntime", "Contracts", "Cryptography", "Faults", "Memos", "Clocks", logging, coreMetrics]),
        wireLibrary("EventLoops", "Shared/Platform/EventLoops", [nioCore, nioHTTPTypes]),
        wireLibrary("Spans", "Shared/Platform/Spans", ["ContractRuntime", "Faults"]),
        wireLibrary("Frames", "Shared/Wire/Frames", ["CContracts", "CProtobufC", "ContractRuntime", "Faults"]),
        wireLibrary("Transport", "Shared/Wire/Transport", ["COpenSSL", "Cryptography", "Faults", nioCore, nioPosix, nioConcurrency]),
        wireLibrary(
            "Rpc", "Shared/Wire/Rpc",
            [
                "CContracts", "CProtobufC", "CResolver", "ContractRuntime", "Contracts", "EventLoops", "Faults", "Memos", "Spans", "Transport",
                "Frames",
                nioCore,
                nioPosix, logging,
                coreMetrics,
            ]),
        plainLibrary("MediaTokenVerifier", "Shared/Domain/MediaTokenVerifier", ["Clocks", "Cryptography", "Octets", "StrictJson"]),
        // For apps: builds for Apple platforms too, where CryptoKit takes the place of libcrypto. Shared/Client/Package.swift has these targets too.
        .systemLibrary(name: "CLibcrypto", path: "Shared/Client/CLibcrypto"),
        plainLibrary(
            "EntitlementClient", "Shared/Client/EntitlementClient",
            ["Octets", .target(name: "CLibcrypto", condition: .when(platforms: [.linux]))]),
        plainLibrary("AccessEnabler", "Shared/Client/AccessEnabler", ["EntitlementClient", "Octets"]),
        plainLibrary("EntitlementSimulator", "Shared/Client/EntitlementSimulator", ["EntitlementClient", "Octets"]),
        library("Tokens", "Shared/Domain/Tokens", ["Clocks", "Cryptography", "Faults", "MediaTokenVerifier", "StrictJson"]),
        library(
            "CatalogueFiles", "Shared/Domain/CatalogueFiles", ["Catalogue", "Clocks", "Contracts", "Cryptography", "StrictJson", "Tokens"]),
        library(
            "OutboundHttp", "Shared/Platform/OutboundHttp", ["CGunzip", "Clocks", "Cryptography", "Spans", httpClient, nioCore, nioPosix, nioSSL]),
        library(
            "Telemetry", "Shared/Platform/Telemetry", ["ContractRuntime", "OutboundHttp", "Spans", coreMetrics, logging]),
        library(
            "BridgeClient", "Shared/Domain/BridgeClient",
            ["Clocks", "Contracts", "Cryptography", "Faults", "OutboundHttp", "StrictJson", "TextEncodings"]),
        library("Storage", "Shared/Platform/Storage", ["Clocks", "Faults", "Spans", coreMetrics, logging]),
        // The engines; no other target of a program imports GRDB or libpq.
        cLibrary("CPostgres", "Shared/Platform/CPostgres", links: [.linkedLibrary("pq")]),
        library(
            "StoragePostgres", "Shared/Platform/StoragePostgres",
            ["Clocks", "COpenSSL", "CPostgres", "Cryptography", "Faults", "Storage", coreMetrics]),
        library("StorageSqlite", "Shared/Platform/StorageSqlite", ["Clocks", "Faults", "Storage", grdb, grdbSqlite, coreMetrics]),
        library("Identifiers", "Shared/Domain/Identifiers", ["Clocks", "Cryptography", "Storage"]),
        wireLibrary(
            "UsageCounting", "Shared/Domain/UsageCounting",
            ["Catalogue", "Clocks", "ContractRuntime", "Contracts", "Faults", coreMetrics, logging]),
        cLibrary(
            "CXmlSec", "Shared/Domain/CXmlSec", settings: xmlsecSettings,
            links: xmlsecLibraries + [.linkedLibrary("crypto"), .linkedLibrary("z")]),
        library("SamlProfile", "Shared/Domain/SamlProfile", ["Clocks", "Cryptography", "CXmlSec", "TextEncodings"]),
        library(
            "SamlExplanation", "Shared/Domain/SamlExplanation",
            ["Catalogue", "Clocks", "Contracts", "Cryptography", "Faults", "Identifiers", "SamlProfile", "Storage"]),
        library(
            "ServiceKit", "Shared/Platform/ServiceKit",
            [
                "Catalogue", "CBuild", "Clocks", "CMemory", "ContractRuntime", "Contracts", "Cryptography", "EventLoops", "Faults", "OutboundHttp",
                "Rpc", "Spans",
                "Storage",
                "StoragePostgres",
                "StorageSqlite", "StrictJson", "Telemetry", "Tokens", "Transport", "UsageCounting",
                nioCore, nioPosix, nioConcurrency, logging, metrics, coreMetrics, lifecycle, unixSignals, hummingbird,
            ], exclude: ["README.md"]),

        // Services: a library with the logic of one context, and a thin executable.
        library(
            "ConfigService", "Services/Config/Service",
            [
                "Catalogue", "CatalogueFiles", "Clocks", "ContractRuntime", "Contracts", "Cryptography", "Faults", "OutboundHttp", "SamlProfile",
                "Storage",
                "StrictJson", "Tokens", logging, coreMetrics,
            ]),
        service("ConfigMain", "Services/Config/Main", ["CatalogueFiles", "ConfigService", "OutboundHttp", "ServiceKit", "Storage", "Tokens"]),

        library(
            "AuthenticationCore", "Services/Authentication/Core",
            [
                "BridgeClient", "Catalogue", "Clocks", "ContractRuntime", "Contracts", "Cryptography", "Faults", "Identifiers", "Memos",
                "SamlExplanation", "SamlProfile", "Storage", "StrictJson", "TextEncodings", "Tokens", "UsageCounting", logging, coreMetrics,
            ]),
        library(
            "AuthenticationSignIn", "Services/Authentication/SignIn",
            [
                "AuthenticationCore", "Catalogue", "Clocks", "ContractRuntime", "Contracts", "Cryptography", "Faults", "Identifiers", "OutboundHttp",
                "SamlExplanation", "SamlProfile", "Storage", "StrictJson", "TextEncodings", "Tokens", "UsageCounting", logging,
            ]),
        library(
            "AuthenticationUpstreams", "Services/Authentication/Upstreams",
            [
                "AuthenticationCore", "BridgeClient", "Catalogue", "Clocks", "ContractRuntime", "Contracts", "Cryptography", "Faults", "Identifiers",
                "MediaTokenVerifier", "OutboundHttp", "SamlExplanation", "Storage", "StrictJson", "UsageCounting", logging, coreMetrics,
            ]),
        library(
            "AuthenticationAdministration", "Services/Authentication/Administration",
            [
                "AuthenticationCore", "AuthenticationSignIn", "Catalogue", "Clocks", "ContractRuntime", "Contracts", "Faults", "Identifiers",
                "OutboundHttp", "SamlExplanation", "SamlProfile", "Storage", "TextEncodings", logging, coreMetrics,
            ]),
        service(
            "AuthenticationMain", "Services/Authentication/Main",
            [
                "AuthenticationAdministration", "AuthenticationCore", "AuthenticationSignIn", "AuthenticationUpstreams", "Catalogue", "Clocks",
                "ContractRuntime", "Cryptography", "Identifiers", "OutboundHttp", "ServiceKit", "Storage", "Tokens", "UsageCounting", logging,
            ]),

        cLibrary("CMrss", "Services/Authorization/CMrss", settings: [.unsafeFlags(["-I/usr/include/libxml2"])], links: [.linkedLibrary("xml2")]),
        library("MediaRss", "Services/Authorization/MediaRss", ["CMrss"]),
        library(
            "AuthorizationService", "Services/Authorization/Service",
            [
                "BridgeClient", "Catalogue", "Clocks", "ContractRuntime", "Contracts", "Cryptography", "Faults", "Memos", "MediaRss",
                "MediaTokenVerifier", "OutboundHttp", "SamlProfile", "Storage", "StrictJson",
                "TextEncodings", "Tokens", "UsageCounting", logging, coreMetrics,
            ]),
        service("AuthorizationMain", "Services/Authorization/Main", ["AuthorizationService", "Contracts", "OutboundHttp", "ServiceKit", "Tokens"]),

        library(
            "AutoSignInService", "Services/AutoSignIn/Service",
            [
                "Catalogue", "Clocks", "ContractRuntime", "Contracts", "Cryptography", "Faults", "Memos", "Identifiers", "OutboundHttp", "Storage",
                "StrictJson", "TextEncodings", "Tokens", logging, coreMetrics,
            ]),
        service("AutoSignInMain", "Services/AutoSignIn/Main", ["AutoSignInService", "Contracts", "OutboundHttp", "ServiceKit", "Storage"]),

        cLibrary("CDeflate", "Services/Gateway/CDeflate", links: [.linkedLibrary("z")]),
        wireLibrary(
            "GatewayEdge", "Services/Gateway/Edge",
            [
                "BridgeClient", "CDeflate", "Catalogue", "Clocks", "ContractRuntime", "Contracts", "Cryptography", "EventLoops", "Faults", "Spans",
                "TextEncodings", "Tokens", logging, coreMetrics, hummingbird, hummingbirdCore, hummingbirdHTTP2, mustache, nioCore, nioPosix,
                nioHTTP1, nioHTTPTypesHTTP1, nioSSL, nioTLS,
            ]),
        library(
            "GatewayPublicApi", "Services/Gateway/PublicApi",
            [
                "BridgeClient", "Catalogue", "CatalogueFiles", "Clocks", "ContractRuntime", "Contracts", "Cryptography", "Faults", "GatewayEdge",
                "Memos", "StrictJson", "TextEncodings", "Tokens", coreMetrics, hummingbird, nioCore,
            ]),
        library(
            "GatewayAdministration", "Services/Gateway/Administration",
            [
                "Catalogue", "CatalogueFiles", "Clocks", "Contracts", "Cryptography", "Faults", "GatewayEdge", "OutboundHttp", "StrictJson",
                "TextEncodings", "Tokens", hummingbird, nioCore,
            ]),
        service(
            "GatewayMain", "Services/Gateway/Main",
            [
                "Contracts", "GatewayAdministration", "GatewayEdge", "GatewayPublicApi", "OutboundHttp", "ServiceKit", hummingbird, lifecycle,
                logging, nioCore,
            ]),

        cLibrary(
            "CSandboxXml", "Services/Sandbox/CSandboxXml", settings: xmlsecSettings,
            links: xmlsecLibraries + [.linkedLibrary("crypto"), .linkedLibrary("z")]
        ),
        outerLibrary(
            "SandboxKit", "Services/Sandbox/Kit", ["CSandboxXml", "Clocks", "StrictJson", hummingbird, logging, mustache, nioCore]),
        outerLibrary(
            "SandboxProviders", "Services/Sandbox/Providers",
            ["CSandboxXml", "Clocks", "SandboxKit", "StrictJson", hummingbird, lifecycle, nioCore]),
        outerLibrary(
            "SandboxApple", "Services/Sandbox/Apple",
            ["CSandboxXml", "Clocks", "Memos", "SandboxKit", httpClient, hummingbird, lifecycle, logging, nioCore]),
        outerLibrary(
            "SandboxVendor", "Services/Sandbox/Vendor", ["Clocks", "SandboxKit", hummingbird, lifecycle, logging, nioCore]),
        outerLibrary(
            "SandboxService", "Services/Sandbox/Service",
            [
                "Clocks", "EventLoops", "SandboxApple", "SandboxKit", "SandboxProviders", "SandboxVendor", hummingbird, hummingbirdCore, logging,
                nioCore, nioHTTPTypes, nioSSL,
            ]),
        program(
            "SandboxMain", "Services/Sandbox/Main",
            ["SandboxKit", "SandboxService", "ServiceKit", hummingbird, lifecycle, logging, unixSignals]),

        library(
            "PeerDoubles", "Services/Workshop/Doubles",
            [
                "Catalogue", "Clocks", "ContractRuntime", "Contracts", "Cryptography", "Faults", "Rpc", "StrictJson", "Tokens", "Transport", logging,
                nioCore, nioPosix,
            ]),
        slowLibrary("ContractReflection", "Services/Workshop/Reflection", ["StrictJson"]),
        library("SamlResponder", "Services/Workshop/SamlResponder", ["CInflate", "Cryptography"]),
        slowLibrary(
            "ContractConformance", "Services/Workshop/Conformance",
            [
                "Clocks", "ContractReflection", "ContractRuntime", "Contracts", "Cryptography", "Faults", "MediaTokenVerifier", "PeerDoubles",
                "SamlResponder", "Tokens", "Transport",
                "Frames",
                nioCore, nioHTTP1, nioPosix, nioSSL,
            ]),
        cLibrary("CQrEncode", "Services/Workshop/CQrEncode", links: [.linkedLibrary("qrencode")]),
        wireLibrary(
            "LoadReporting", "Services/Workshop/Load/Reporting", ["Cryptography", histogram, mustache], exclude: ["Page/Resources"]),
        wireLibrary(
            "LoadTool", "Services/Workshop/Load/Tool",
            [
                "ContractRuntime", "Contracts", "Faults", "LoadReporting", "Rpc", "Transport", logging, nioCore, nioPosix, nioSSL, nioTLS,
            ]),
        cLibrary("CSpawn", "Services/Operator/CSpawn", links: []),
        library("PrivatePostgres", "Services/Operator/PrivatePostgres", ["CSpawn"]),
        cLibrary("CInflate", "Services/Workshop/CInflate", links: [.linkedLibrary("z")]),
        // The commands: what runs and keeps a cluster is Operator's, what tests, plays and judges is Workshop's; both stand on CommandKit.
        outerLibrary(
            "CommandKit", "Services/Operator/CommandKit",
            [
                "CSpawn", "ContractRuntime", "Contracts", "Cryptography", "Faults", "LoadReporting", "Rpc", "ServiceKit", "Transport", arguments,
                httpClient, logging, nioCore, nioHTTP1, nioPosix, nioSSL,
            ]),
        outerLibrary(
            "Simulation", "Services/Workshop/Simulation",
            [
                "CQrEncode", "Clocks", "CommandKit", "Cryptography", "EntitlementClient", "EntitlementSimulator", "LoadReporting",
                "MediaTokenVerifier", "SamlResponder", "ServiceKit", "StrictJson", "TextEncodings", arguments, httpClient, nioCore, nioSSL,
            ]),
        outerLibrary(
            "ClusterCommands", "Services/Operator/Cluster",
            [
                "CSpawn", "CatalogueFiles", "Clocks", "CommandKit", "ContractRuntime", "Contracts", "Cryptography", "Faults", "LoadReporting",
                "PeerDoubles", "PrivatePostgres", "Rpc", "ServiceKit", "Simulation", "Storage", "StoragePostgres", "StorageSqlite", "StrictJson",
                "TextEncodings", "Tokens", "Transport", arguments, logging, nioCore, nioPosix,
            ]),
        outerLibrary(
            "AdministrationCommands", "Services/Operator/Administration",
            [
                "CatalogueFiles", "Clocks", "ClusterCommands", "CommandKit", "ContractReflection", "ContractRuntime", "Contracts", "Cryptography",
                "Faults", "LoadReporting", "MediaTokenVerifier", "SamlExplanation", "SamlProfile", "ServiceKit", "Simulation", "StrictJson",
                "TextEncodings", arguments, nioCore, nioHTTP1, nioPosix,
            ]),
        outerLibrary(
            "WorkshopCommands", "Services/Workshop/Commands",
            [
                "ClusterCommands", "CommandKit", "ContractConformance", "ContractReflection", "ContractRuntime", "Contracts", "Cryptography",
                "EntitlementClient", "Faults", "LoadReporting", "LoadTool", "PeerDoubles", "Rpc", "SamlResponder", "ServiceKit", "Simulation",
                "StrictJson", "TextEncodings", "Tokens", "Transport", arguments, logging, nioCore, nioHTTP1, nioPosix, nioSSL,
            ]),
        program(
            "BoxofficeMain", "Services/Operator/Main",
            ["AdministrationCommands", "ClusterCommands", "CommandKit", "ServiceKit", "Simulation", "WorkshopCommands", arguments]),
    ]
)

// What tests, benchmarks and faults share.
if hasAny("tests", "benchmarks", "mutations") { package.targets.append(library("SamlSigner", "Tests/Support/SamlSigner", [])) }
if hasAny("tests") { package.targets.append(library("PairedTimes", "Tests/Support/PairedTimes", [])) }
if hasAny("tests", "chaos") { package.targets.append(library("FaultProxy", "Tests/Chaos/Proxy", [nioCore, nioPosix])) }

// Faults under load: a program, as it runs on release binaries.
if hasAny("chaos") {
    package.products.append(.executable(name: "chaos", targets: ["ChaosSuite"]))
    package.targets += [
        program(
            "ChaosSuite", "Tests/Chaos/Suite",
            [
                "ClusterCommands", "CommandKit", "FaultProxy", "LoadTool", "PrivatePostgres", "Simulation", "TextEncodings", arguments, httpClient,
                nioCore, nioPosix, nioHTTP1, nioSSL,
            ])
    ]
}

if hasAny("mutations") {
    package.products.append(.executable(name: "saml-mutations", targets: ["SamlMutations"]))
    package.targets += [
        .executableTarget(
            name: "SamlMutations", dependencies: ["Clocks", "SamlProfile", "SamlSigner"], path: "Tests/Fuzz/SamlMutations", exclude: ["run"],
            swiftSettings: strict)
    ]
}

// Benchmarks: programs, not tests.
if hasAny("benchmarks") {
    package.products += [
        .executable(name: "wire-benchmark", targets: ["WireBenchmark"]),
        .executable(name: "gateway-benchmark", targets: ["GatewayBenchmark"]),
        .executable(name: "saml-benchmark", targets: ["SamlBenchmark"]),
        .executable(name: "apple-benchmark", targets: ["AppleBenchmark"]),
        .executable(name: "store-benchmark", targets: ["StoreBenchmark"]),
        .executable(name: "client-benchmark", targets: ["ClientBenchmark"]),
    ]
    package.targets += [
        program(
            "WireBenchmark", "Tests/Benchmarks/Wire",
            ["ContractRuntime", "Contracts", "Cryptography", "EventLoops", "Faults", "Rpc", "Transport", arguments, nioCore, nioPosix, logging]),
        program(
            "GatewayBenchmark", "Tests/Benchmarks/Gateway",
            [
                "CommandKit", "EntitlementClient", "GatewayEdge", "Simulation", "TextEncodings", arguments, hummingbird, hummingbirdCore, logging,
            ]),
        program(
            "StoreBenchmark", "Tests/Benchmarks/Store",
            [
                "AuthenticationAdministration", "AuthenticationCore", "PrivatePostgres", "Storage", "StoragePostgres", "StorageSqlite", arguments,
                grdb,
            ]),
        program("ClientBenchmark", "Tests/Benchmarks/Client", ["EntitlementClient", "EntitlementSimulator", arguments]),
        program("AppleBenchmark", "Tests/Benchmarks/Apple", ["AutoSignInService", "Clocks", "Cryptography", arguments]),
        program("SamlBenchmark", "Tests/Benchmarks/Saml", ["Clocks", "SamlProfile", "SamlSigner", arguments]),
    ]
}

if hasAny("tests") {
    package.targets += [
        library("SpanRecordings", "Tests/Support/SpanRecordings", ["ContractRuntime", "Spans"]),
        library("OtlpReceiver", "Tests/Support/OtlpReceiver", [hummingbird, logging, nioCore]),
        tests("SpansTests", ["ContractRuntime", "Faults", "SpanRecordings", "Spans", "Storage", "StorageSqlite"]),
        tests(
            "TelemetryTests",
            ["ContractRuntime", "OtlpReceiver", "OutboundHttp", "SpanRecordings", "Spans", "Telemetry", coreMetrics, logging]),
        tests(
            "OutboundHttpTests",
            ["Clocks", "ContractRuntime", "Cryptography", "OtlpReceiver", "OutboundHttp", "SpanRecordings", "Spans", nioCore, nioPosix, nioSSL]),
        tests("FaultProxyTests", ["FaultProxy", nioCore, nioPosix]),
        library("TestIdentities", "Tests/Support/TestIdentities", ["Cryptography", "Transport"]),
        library(
            "Doubles", "Tests/Support/Doubles", ["Catalogue", "Clocks", "ContractRuntime", "Contracts", "Cryptography", "Faults", nioConcurrency]),
        library("PostgresServer", "Tests/Support/PostgresServer", ["PrivatePostgres", "Storage", "StoragePostgres", "StorageSqlite"]),
        tests("OctetsTests", ["Octets"]),
        library("CatalogueSamples", "Tests/Support/CatalogueSamples", ["CatalogueFiles", "Clocks", "Cryptography", "Doubles"]),
        tests("ClocksTests", ["Clocks"]),
        tests("TextEncodingsTests", ["TextEncodings"]),
        tests("IdentifiersTests", ["Clocks", "Identifiers"]),
        tests("MemosTests", ["Memos"]),
        tests("BridgeClientTests", ["BridgeClient", "Clocks", "Contracts", "Cryptography", "Faults", "OutboundHttp", "StrictJson"]),
        tests("UsageCountingTests", ["Clocks", "ContractRuntime", "Contracts", "Doubles", "Faults", "UsageCounting", logging]),
        tests("StrictJsonTests", ["StrictJson"]),
        tests("CatalogueTests", ["Catalogue", "Clocks", "Contracts", "ContractRuntime", "Cryptography", "Faults", logging]),
        tests("CatalogueFilesTests", ["Catalogue", "CatalogueFiles", "CatalogueSamples", "Clocks", "Contracts", "Cryptography", "Tokens"]),
        tests("ContractsTests", ["Contracts", "ContractReflection", "ContractRuntime", "Faults", "StrictJson"]),
        tests("CryptographyTests", ["Clocks", "Cryptography", "Octets"]),
        tests("FramesTests", ["Frames", "Contracts", "ContractRuntime", "Faults"], exclude: ["Golden"]),
        tests("TransportTests", ["Transport", "Cryptography", "Faults", "TestIdentities", nioCore, nioPosix, nioEmbedded]),
        tests(
            "RpcTests",
            [
                "FaultProxy", "Rpc", "Frames", "SpanRecordings", "Spans", "TestIdentities", "Transport", "Contracts", "ContractRuntime",
                "Cryptography",
                "Faults", nioCore,
                nioPosix,
                nioConcurrency, logging,
            ]),
        tests("TokensTests", ["Clocks", "Tokens", "MediaTokenVerifier", "Cryptography", "Faults"]),
        tests("StorageTests", ["Clocks", "Storage", "StorageSqlite", "Faults", grdb, logging]),
        tests(
            "StoragePostgresTests",
            [
                "Clocks", "Cryptography", "Faults", "PostgresServer", "PrivatePostgres", "SpanRecordings", "Spans", "Storage", "StoragePostgres",
                "StorageSqlite", "TestIdentities", logging,
            ]),
        tests(
            "ServiceKitTests",
            [
                "Clocks", "ServiceKit", "Contracts", "ContractRuntime", "Cryptography", "EventLoops", "Faults", "OutboundHttp", "PostgresServer",
                "Rpc",
                "Catalogue", "Storage", "StoragePostgres",
                "StorageSqlite", "Telemetry", "Tokens", "Transport", "UsageCounting", logging, unixSignals,
                coreMetrics, hummingbird, hummingbirdTesting, lifecycle, nioCore, nioEmbedded, nioHTTPTypes, nioPosix,
            ]),
        tests(
            "ConfigServiceTests",
            [
                "Catalogue", "CatalogueFiles", "CatalogueSamples", "Clocks", "ConfigService", "Contracts", "ContractRuntime", "Cryptography",
                "Doubles", "Faults", "OutboundHttp", "PostgresServer", "Storage", "StoragePostgres", "StorageSqlite", "Tokens", logging,
            ]),
        tests("SamlProfileTests", ["Clocks", "PairedTimes", "SamlProfile", "SamlSigner"], exclude: ["Peers"]),
        tests(
            "AuthenticationServiceTests",
            [
                "AuthenticationAdministration", "AuthenticationCore", "AuthenticationSignIn", "AuthenticationUpstreams", "BridgeClient", "Catalogue",
                "Clocks", "SamlExplanation", "SamlProfile", "SamlSigner", "Contracts", "ContractRuntime",
                "Cryptography", "Doubles", "Faults", "Identifiers", "OutboundHttp", "PostgresServer", "Storage", "StoragePostgres", "StorageSqlite",
                "TextEncodings",
                "Tokens", "UsageCounting", logging,
            ]),
        tests(
            "AuthorizationServiceTests",
            [
                "Catalogue", "Clocks", "AuthorizationService", "MediaRss", "MediaTokenVerifier", "OutboundHttp", "SamlSigner", "Contracts",
                "ContractRuntime",
                "Cryptography", "Doubles", "Faults", "PostgresServer", "Storage", "StoragePostgres", "StorageSqlite", "Tokens", "UsageCounting",
                nioCore,
                nioPosix, nioSSL, logging,
            ]),
        tests(
            "AutoSignInServiceTests",
            [
                "Catalogue", "Clocks", "AutoSignInService", "Contracts", "ContractRuntime", "Cryptography", "Doubles", "Faults", "Identifiers",
                "OutboundHttp", "PairedTimes", "PostgresServer", "Storage", "StoragePostgres", "StorageSqlite", "Tokens", logging,
            ]),
        tests(
            "GatewayServiceTests",
            [
                "Clocks", "Cryptography", "GatewayAdministration", "GatewayEdge", "GatewayPublicApi", "Contracts", "ContractRuntime", "Doubles",
                "EventLoops", "Faults", "OutboundHttp",
                "SpanRecordings",
                "Spans",
                hummingbird, hummingbirdCore,
                hummingbirdTesting,
                "BridgeClient",
                logging,
                nioCore, nioEmbedded, nioPosix, nioSSL,
            ], exclude: ["Faces/refusals.txt"]),
        tests(
            "SandboxServiceTests",
            [
                "Clocks", "SandboxApple", "SandboxKit", "SandboxProviders", "SandboxService", "SandboxVendor", hummingbird, hummingbirdTesting,
                logging,
            ]),
        tests("LoadReportingTests", ["LoadReporting"]),
        tests(
            "LoadToolTests",
            ["ContractRuntime", "Contracts", "Cryptography", "Faults", "LoadReporting", "LoadTool", "Rpc", "Transport", logging, nioCore, nioPosix]),
        tests("EntitlementClientTests", ["EntitlementClient", "EntitlementSimulator"]),
        tests("AccessEnablerTests", ["AccessEnabler", "Cryptography", "EntitlementClient", "Tokens"]),
        tests("ContractReflectionTests", ["ContractReflection", "ContractRuntime", "Contracts", "StrictJson"]),
        tests("PeerDoublesTests", ["Clocks", "ContractRuntime", "Contracts", "Cryptography", "Faults", "PeerDoubles", "Tokens"]),
        tests(
            "ContractConformanceTests",
            [
                "AuthorizationService", "AutoSignInService", "Catalogue", "Clocks", "ContractConformance", "ContractRuntime", "Contracts",
                "Cryptography", "Faults", "OutboundHttp", "PeerDoubles", "Rpc", "Storage", "StorageSqlite", "Tokens", "Transport",
                "Frames",
                logging, nioCore, nioPosix,
            ]),
        tests(
            "CommandLineTests",
            [
                "AdministrationCommands", "BoxofficeMain", "Clocks", "ClusterCommands", "CommandKit", "ContractRuntime", "Contracts", "Cryptography",
                "EntitlementClient", "EntitlementSimulator", "Faults", "Simulation", "WorkshopCommands",
                "CatalogueFiles", "LoadReporting", "LoadTool", "MediaTokenVerifier", "PostgresServer", "PrivatePostgres", "Rpc", "SamlResponder",
                "ServiceKit",
                "Storage",
                "StoragePostgres",
                "StorageSqlite", "Tokens",
                "Transport", arguments, httpClient, nioCore, nioHTTP1, nioPosix, logging,
            ]),
        tests(
            "IntegrationTests",
            [
                "AdministrationCommands", "Clocks", "ClusterCommands", "CommandKit", "CSpawn", "ContractConformance", "Contracts", "ContractRuntime",
                "Cryptography", "Faults",
                "LoadReporting",
                "MediaTokenVerifier", "OtlpReceiver", "PairedTimes", "PeerDoubles", "PostgresServer", "Rpc", "SamlSigner", "EntitlementClient",
                "EntitlementSimulator", "ServiceKit", "Simulation", "WorkshopCommands",
                "Storage", "TextEncodings", "Tokens", "Transport", httpClient, nioCore, nioPosix, logging,
            ], needs: "Cluster"),
    ]
}
