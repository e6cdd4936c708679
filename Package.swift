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
    .define("XMLSEC_NO_CRYPTO_DYNAMIC_LOADING", to: "1"), .define("XMLSEC_CRYPTO_OPENSSL", to: "1"), .define("XMLSEC_OPENSSL3_ENGINES", to: "1"),
    .unsafeFlags(["-I/usr/include/libxml2", "-I/usr/include/xmlsec1"]),
]
let xmlsecLibraries: [LinkerSetting] = ["xmlsec1-openssl", "xmlsec1", "xslt", "xml2", "crypto", "z"].map { .linkedLibrary($0) }

/// What is used of other packages: from which version, and which products. A product has the name of its module.
let packages: KeyValuePairs<String, (from: Version, products: [String])> = [
    "apple/swift-nio": ("2.101.0", ["NIOCore", "NIOPosix", "NIOTLS", "NIOHTTP1", "NIOEmbedded", "NIOConcurrencyHelpers"]),
    "apple/swift-nio-ssl": ("2.37.0", ["NIOSSL"]), "apple/swift-nio-extras": ("1.35.0", ["NIOHTTPTypes", "NIOHTTPTypesHTTP1"]),
    "apple/swift-log": ("1.14.0", ["Logging"]), "apple/swift-metrics": ("2.9.0", ["Metrics", "CoreMetrics"]),
    "apple/swift-argument-parser": ("1.8.0", ["ArgumentParser"]),
    "swift-server/swift-service-lifecycle": ("2.13.0", ["ServiceLifecycle", "UnixSignals"]),
    "swift-server/async-http-client": ("1.37.0", ["AsyncHTTPClient"]),
    "hummingbird-project/hummingbird": ("2.28.1", ["Hummingbird", "HummingbirdCore", "HummingbirdHTTP2", "HummingbirdTLS", "HummingbirdTesting"]),
    "hummingbird-project/swift-mustache": ("2.1.1", ["Mustache"]), "groue/GRDB.swift": ("7.10.0", ["GRDB", "GRDBSQLite"]),
    "HdrHistogram/hdrhistogram-swift": ("0.2.0", ["Histogram"]),
]
let addresses = Dictionary(uniqueKeysWithValues: packages.flatMap { address, package in package.products.map { ($0, address) } })

/// Targets and products by the names that files import, with spaces between them.
func dependencies(_ names: [String], _ more: String...) -> [Target.Dependency] {
    (names + more).flatMap { $0.split(separator: " ").map(String.init) }.map { name in
        if name == "CLibcrypto" { return .target(name: name, condition: .when(platforms: [.linux])) }
        return addresses[name].map { .product(name: name, package: String($0.split(separator: "/")[1])) } ?? .byName(name: name)
    }
}

/// What most targets over the contracts import.
let common = "Clocks ContractRuntime Contracts Cryptography Faults"
/// What the logic of the services imports. A module that needs less lists what it needs, and may import nothing else.
let logic = common + " Catalogue Logging Storage StrictJson"
/// What tests of stores import.
let stores = "PostgresServer Storage StoragePostgres StorageSqlite"

func executables(_ targets: KeyValuePairs<String, String>) -> [Product] {
    targets.map { .executable(name: $0.key, targets: [$0.value]) }
}

/// A library that apps may use too, or that such a library uses.
func plainLibrary(_ name: String, _ path: String, uses names: String...) -> Target {
    .target(name: name, dependencies: dependencies(names), path: path, swiftSettings: strict)
}

/// - Parameter shared: what it uses as others of its kind do, such as `logic`.
func library(
    _ name: String, _ path: String, _ shared: String = "", uses names: String..., exclude: [String] = [], and more: [SwiftSetting] = []
) -> Target {
    .target(name: name, dependencies: dependencies([shared] + names, "Octets"), path: path, exclude: exclude, swiftSettings: strict + octets + more)
}

/// A library on the path of every call. In release builds other modules may inline its functions, and the run-time check of exclusive access
/// is left out: builds for development have it, and tests run on those. Such flags keep a package from being a dependency, so what others use has none.
func wireLibrary(_ name: String, _ path: String, _ shared: String = "", uses names: String..., exclude: [String] = []) -> Target {
    let fast: SwiftSetting = .unsafeFlags(["-cross-module-optimization", "-enforce-exclusivity=unchecked"], .when(configuration: .release))
    return library(name, path, ([shared] + names).joined(separator: " "), exclude: exclude, and: [fast])
}

/// Where optimising would cost a release build more than anybody ever gains by it.
let plain: SwiftSetting = .unsafeFlags(["-Onone"], .when(configuration: .release))

/// A library that never stands on the path of a call or of a load.
func slowLibrary(_ name: String, _ path: String, _ shared: String = "", uses names: String...) -> Target {
    library(name, path, ([shared] + names).joined(separator: " "), and: [plain])
}

/// A large library that stands on no path of a call, but on one of a load: only a build whose list of parts names `chaos`, as `Tests/run --all` makes it, goes
/// without the optimiser.
func outerLibrary(_ name: String, _ path: String, _ shared: String = "", uses names: String..., exclude: [String] = []) -> Target {
    library(name, path, ([shared] + names).joined(separator: " "), exclude: exclude, and: isForTests ? [plain] : [])
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

func program(_ name: String, _ path: String, _ shared: String = "", uses names: String..., links: [LinkerSetting] = []) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies([shared] + names, "Octets"), path: path, swiftSettings: strict + octets,
        linkerSettings: quickLinker + links)
}

func service(_ name: String, _ path: String, _ shared: String = "", uses names: String...) -> Target {
    program(name, path, ([shared] + names).joined(separator: " "), links: carriedRuntime)
}

/// The suite of the cluster needs the real programs; all others need nothing but themselves.
func tests(_ name: String, _ names: String, exclude: [String] = []) -> Target {
    let path = "Tests/\(name == "IntegrationTests" ? "Cluster" : "Unit")/\(name)"
    return .testTarget(
        name: name, dependencies: dependencies([names]), path: path, exclude: exclude, swiftSettings: strict, linkerSettings: quickLinker)
}

func cLibrary(_ name: String, _ path: String, _ dependencies: [Target.Dependency] = [], settings: [CSetting] = [], links: [LinkerSetting]) -> Target {
    .target(name: name, dependencies: dependencies, path: path, cSettings: settings, linkerSettings: links)
}

let package = Package(
    name: "boxoffice",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .visionOS(.v2)],
    products: executables([
        "config": "ConfigMain", "authentication": "AuthenticationMain", "authorization": "AuthorizationMain", "autosignin": "AutoSignInMain",
        "gateway": "GatewayMain", "sandbox": "SandboxMain", "boxoffice": "BoxofficeMain",
    ]) + ["MediaTokenVerifier", "EntitlementClient", "AccessEnabler", "EntitlementSimulator"].map { .library(name: $0, targets: [$0]) },
    dependencies: packages.map { address, package in
        // Hummingbird without its traits: two or more reach the compiler in an order that changes by chance, and with it everything would be compiled anew.
        .package(
            url: "https://github.com/\(address).git", from: package.from, traits: address == "hummingbird-project/hummingbird" ? [] : [.defaults])
    },
)

package.targets = [
    // Shared layers, lowest first; a target may only depend on targets above it in this list.
    plainLibrary("Octets", "Shared/Language/Octets"),
    plainLibrary("Faults", "Shared/Language/Faults"),
    plainLibrary("Clocks", "Shared/Language/Clocks"),
    library("TextEncodings", "Shared/Language/TextEncodings"),
    wireLibrary("Memos", "Shared/Language/Memos"),
    plainLibrary("StrictJson", "Shared/Language/StrictJson", uses: "Octets"),
    cLibrary("CProtobufC", "Shared/Wire/CProtobufC", links: [.linkedLibrary("protobuf-c")]),
    cLibrary("COpenSSL", "Shared/Platform/COpenSSL", links: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
    cLibrary("CContracts", "Shared/Wire/CContracts", ["CProtobufC"], links: []),
    cLibrary("CResolver", "Shared/Wire/CResolver", links: [.linkedLibrary("resolv")]),
    cLibrary("CZlib", "Shared/Platform/CZlib", links: [.linkedLibrary("z")]),
    // What a process asks of C: its memory, and the commit that it was built from. Only a release names one, so that else a commit builds nothing anew.
    cLibrary(
        "CProcess", "Shared/Platform/CProcess",
        settings: Context.environment["BOXOFFICE_COMMIT"].map { [.define("BOXOFFICE_COMMIT", to: "\"\($0)\"")] } ?? [], links: []),
    plainLibrary("Cryptography", "Shared/Platform/Cryptography", uses: "Clocks COpenSSL Faults Octets"),
    wireLibrary("ContractRuntime", "Shared/Wire/ContractRuntime", uses: "CProtobufC Faults"),
    library("Contracts", "Shared/Wire/Contracts", uses: "CContracts ContractRuntime Faults", exclude: ["Protos", "Released"]),
    library("Catalogue", "Shared/Domain/Catalogue", common, uses: "CoreMetrics Logging Memos"),
    wireLibrary("EventLoops", "Shared/Platform/EventLoops", uses: "NIOCore NIOHTTPTypes"),
    wireLibrary("Spans", "Shared/Platform/Spans", uses: "ContractRuntime Faults"),
    wireLibrary("Frames", "Shared/Wire/Frames", uses: "CContracts ContractRuntime CProtobufC Faults"),
    wireLibrary("Transport", "Shared/Wire/Transport", uses: "COpenSSL Cryptography Faults NIOConcurrencyHelpers NIOCore NIOPosix"),
    wireLibrary(
        "Rpc", "Shared/Wire/Rpc", uses: "CContracts ContractRuntime Contracts CoreMetrics CProtobufC CResolver EventLoops Faults Frames",
        "Logging Memos NIOCore NIOPosix Spans Transport"),
    plainLibrary("MediaTokenVerifier", "Shared/Domain/MediaTokenVerifier", uses: "Clocks Cryptography Octets StrictJson"),
    // For apps: builds for Apple platforms too, where CryptoKit takes the place of libcrypto. Shared/Client/Package.swift has these targets too.
    .systemLibrary(name: "CLibcrypto", path: "Shared/Client/CLibcrypto"),
    plainLibrary("EntitlementClient", "Shared/Client/EntitlementClient", uses: "CLibcrypto Octets"),
    plainLibrary("AccessEnabler", "Shared/Client/AccessEnabler", uses: "EntitlementClient Octets"),
    plainLibrary("EntitlementSimulator", "Shared/Client/EntitlementSimulator", uses: "EntitlementClient Octets"),
    library("Tokens", "Shared/Domain/Tokens", uses: "Clocks Cryptography Faults MediaTokenVerifier Memos StrictJson TextEncodings"),
    library("CatalogueFiles", "Shared/Domain/CatalogueFiles", uses: "Catalogue Clocks Contracts Cryptography StrictJson Tokens"),
    library("OutboundHttp", "Shared/Platform/OutboundHttp", uses: "AsyncHTTPClient Clocks Cryptography CZlib NIOCore NIOPosix NIOSSL Spans"),
    library("Telemetry", "Shared/Platform/Telemetry", uses: "ContractRuntime CoreMetrics Logging OutboundHttp Spans StrictJson"),
    library("BridgeClient", "Shared/Domain/BridgeClient", uses: "Clocks Contracts Cryptography Faults OutboundHttp StrictJson TextEncodings"),
    library("Storage", "Shared/Platform/Storage", uses: "Clocks CoreMetrics Faults Logging Memos Spans StrictJson"),
    // The engines; no other target of a program imports GRDB or libpq.
    cLibrary("CPostgres", "Shared/Platform/CPostgres", links: [.linkedLibrary("pq")]),
    library("StoragePostgres", "Shared/Platform/StoragePostgres", uses: "Clocks COpenSSL CoreMetrics CPostgres Cryptography Faults Storage"),
    library("StorageSqlite", "Shared/Platform/StorageSqlite", uses: "Clocks CoreMetrics Faults GRDB GRDBSQLite Storage"),
    library("Identifiers", "Shared/Domain/Identifiers", uses: "Clocks Cryptography Storage"),
    wireLibrary("UsageCounting", "Shared/Domain/UsageCounting", uses: "Catalogue Clocks ContractRuntime Contracts CoreMetrics Faults Logging"),
    cLibrary("CXmlSec", "Shared/Domain/CXmlSec", settings: xmlsecSettings, links: xmlsecLibraries),
    library("SamlProfile", "Shared/Domain/SamlProfile", uses: "Clocks Cryptography CXmlSec TextEncodings"),
    library("SamlExplanation", "Shared/Domain/SamlExplanation", uses: "Catalogue Clocks Contracts Cryptography Faults Identifiers Memos SamlProfile"),
    library(
        "ServiceKit", "Shared/Platform/ServiceKit", common, uses: "Catalogue CoreMetrics CProcess EventLoops Hummingbird Logging Metrics",
        "NIOConcurrencyHelpers NIOCore NIOPosix OutboundHttp Rpc ServiceLifecycle Spans Storage StoragePostgres StorageSqlite StrictJson Telemetry",
        "Tokens Transport UnixSignals UsageCounting", exclude: ["README.md"]),
    // Services: a library with the logic of one context, and a thin executable.
    library("ConfigService", "Services/Config/Service", logic, uses: "CatalogueFiles CoreMetrics OutboundHttp SamlProfile Tokens"),
    service("ConfigMain", "Services/Config/Main", uses: "CatalogueFiles ConfigService OutboundHttp ServiceKit Storage Tokens"),
    library(
        "AuthenticationCore", "Services/Authentication/Core", logic, uses: "BridgeClient CoreMetrics Identifiers Memos OutboundHttp SamlExplanation",
        "SamlProfile TextEncodings Tokens UsageCounting"),
    library(
        "AuthenticationSignIn", "Services/Authentication/SignIn", logic, uses: "AuthenticationCore Identifiers Memos OutboundHttp",
        "SamlExplanation SamlProfile TextEncodings Tokens UsageCounting"),
    library(
        "AuthenticationUpstreams", "Services/Authentication/Upstreams", logic, uses: "AuthenticationCore BridgeClient CoreMetrics Identifiers",
        "MediaTokenVerifier Memos OutboundHttp SamlExplanation UsageCounting"),
    library(
        "AuthenticationAdministration", "Services/Authentication/Administration", uses: "AuthenticationCore AuthenticationSignIn Catalogue",
        "Clocks ContractRuntime Contracts CoreMetrics Faults Identifiers Logging OutboundHttp SamlExplanation SamlProfile Storage StrictJson",
        "TextEncodings"),
    service(
        "AuthenticationMain", "Services/Authentication/Main", uses: "AuthenticationAdministration AuthenticationCore AuthenticationSignIn",
        "AuthenticationUpstreams Catalogue Clocks ContractRuntime Cryptography Identifiers Logging OutboundHttp ServiceKit Storage Tokens",
        "UsageCounting"),
    cLibrary("CMrss", "Services/Authorization/CMrss", settings: [.unsafeFlags(["-I/usr/include/libxml2"])], links: [.linkedLibrary("xml2")]),
    library("MediaRss", "Services/Authorization/MediaRss", uses: "CMrss TextEncodings"),
    library(
        "AuthorizationService", "Services/Authorization/Service", logic, uses: "BridgeClient CoreMetrics MediaRss MediaTokenVerifier Memos",
        "OutboundHttp SamlProfile TextEncodings Tokens UsageCounting"),
    service("AuthorizationMain", "Services/Authorization/Main", uses: "AuthorizationService Contracts OutboundHttp ServiceKit Tokens"),
    library("AutoSignInService", "Services/AutoSignIn/Service", logic, uses: "CoreMetrics Identifiers Memos OutboundHttp TextEncodings Tokens"),
    service("AutoSignInMain", "Services/AutoSignIn/Main", uses: "AutoSignInService Contracts OutboundHttp ServiceKit Storage"),
    library(
        "GatewayEdge", "Services/Gateway/Edge", common, uses: "BridgeClient Catalogue CoreMetrics CZlib EventLoops Hummingbird HummingbirdCore",
        "HummingbirdHTTP2 Logging Mustache NIOCore NIOHTTP1 NIOHTTPTypesHTTP1 NIOPosix NIOSSL NIOTLS Spans StrictJson TextEncodings Tokens"),
    library(
        "GatewayPublicApi", "Services/Gateway/PublicApi", common, uses: "BridgeClient Catalogue CatalogueFiles CoreMetrics GatewayEdge",
        "Hummingbird Memos NIOCore StrictJson TextEncodings Tokens"),
    library(
        "GatewayAdministration", "Services/Gateway/Administration", uses: "Catalogue CatalogueFiles Clocks ContractRuntime Contracts Cryptography",
        "Faults GatewayEdge Hummingbird Memos NIOCore OutboundHttp StrictJson TextEncodings Tokens"),
    service(
        "GatewayMain", "Services/Gateway/Main", uses: "Contracts GatewayAdministration GatewayEdge GatewayPublicApi Hummingbird Logging NIOCore",
        "OutboundHttp ServiceKit ServiceLifecycle"),
    cLibrary("CSandboxXml", "Services/Sandbox/CSandboxXml", settings: xmlsecSettings, links: xmlsecLibraries),
    outerLibrary("SandboxKit", "Services/Sandbox/Kit", uses: "Clocks CSandboxXml Hummingbird Logging Mustache NIOCore StrictJson"),
    outerLibrary(
        "SandboxProviders", "Services/Sandbox/Providers", uses: "Clocks CSandboxXml Hummingbird NIOCore SandboxKit ServiceLifecycle",
        "StrictJson"),
    outerLibrary(
        "SandboxApple", "Services/Sandbox/Apple", uses: "AsyncHTTPClient Clocks CSandboxXml Hummingbird Logging Memos NIOCore SandboxKit",
        "ServiceLifecycle"),
    outerLibrary("SandboxVendor", "Services/Sandbox/Vendor", uses: "Clocks Hummingbird Logging NIOCore SandboxKit ServiceLifecycle"),
    outerLibrary(
        "SandboxService", "Services/Sandbox/Service", uses: "Clocks EventLoops Hummingbird HummingbirdCore HummingbirdHTTP2 Logging NIOCore",
        "NIOHTTPTypes NIOSSL SandboxApple SandboxKit SandboxProviders SandboxVendor"),
    program("SandboxMain", "Services/Sandbox/Main", uses: "Hummingbird Logging SandboxKit SandboxService ServiceKit ServiceLifecycle UnixSignals"),
    library("PeerDoubles", "Services/Workshop/Doubles", common, uses: "Catalogue Logging NIOCore NIOPosix Rpc StrictJson Tokens Transport"),
    slowLibrary("ContractReflection", "Services/Workshop/Reflection", uses: "StrictJson"),
    library("SamlResponder", "Services/Workshop/SamlResponder", uses: "Cryptography CZlib"),
    slowLibrary(
        "ContractConformance", "Services/Workshop/Conformance", common, uses: "ContractReflection Frames MediaTokenVerifier NIOCore NIOHTTP1",
        "NIOPosix NIOSSL PeerDoubles SamlResponder TextEncodings Tokens Transport"),
    cLibrary("CQrEncode", "Services/Workshop/CQrEncode", links: [.linkedLibrary("qrencode")]),
    wireLibrary(
        "LoadReporting", "Services/Workshop/Load/Reporting", uses: "Cryptography Histogram Mustache",
        "TextEncodings", exclude: ["Page/Resources"]),
    wireLibrary(
        "LoadTool", "Services/Workshop/Load/Tool", uses: "ContractRuntime Contracts Faults LoadReporting Logging NIOCore NIOPosix NIOSSL",
        "NIOTLS Rpc Transport"),
    cLibrary("CSpawn", "Services/Operator/CSpawn", links: []),
    library("PrivatePostgres", "Services/Operator/PrivatePostgres", uses: "CSpawn"),
    // The commands: what runs and keeps a cluster is Operator's, what tests, plays and judges is Workshop's; both stand on CommandKit.
    outerLibrary(
        "CommandKit", "Services/Operator/CommandKit", uses: "ArgumentParser AsyncHTTPClient ContractRuntime Contracts Cryptography CSpawn",
        "Faults LoadReporting Logging NIOCore NIOHTTP1 NIOPosix NIOSSL Rpc ServiceKit Transport"),
    outerLibrary(
        "Simulation", "Services/Workshop/Simulation", uses: "ArgumentParser AsyncHTTPClient Clocks CommandKit CQrEncode Cryptography",
        "EntitlementClient EntitlementSimulator LoadReporting MediaTokenVerifier NIOCore NIOSSL SamlResponder ServiceKit StrictJson TextEncodings"),
    outerLibrary(
        "ClusterCommands", "Services/Operator/Cluster", common, uses: "ArgumentParser BridgeClient CatalogueFiles CommandKit CSpawn LoadReporting",
        "Logging NIOCore NIOPosix NIOSSL OutboundHttp PeerDoubles PrivatePostgres Rpc ServiceKit Simulation Storage StoragePostgres StorageSqlite",
        "StrictJson TextEncodings Tokens Transport"),
    outerLibrary(
        "AdministrationCommands", "Services/Operator/Administration", common, uses: "ArgumentParser CatalogueFiles ClusterCommands",
        "CommandKit ContractReflection LoadReporting MediaTokenVerifier NIOCore NIOHTTP1 NIOPosix SamlExplanation SamlProfile ServiceKit Simulation",
        "StrictJson TextEncodings"),
    outerLibrary(
        "WorkshopCommands", "Services/Workshop/Commands", uses: "ArgumentParser ClusterCommands CommandKit ContractConformance",
        "ContractReflection ContractRuntime Contracts Cryptography EntitlementClient Faults LoadReporting LoadTool Logging NIOCore NIOHTTP1 NIOPosix",
        "NIOSSL PeerDoubles Rpc SamlResponder ServiceKit Simulation StrictJson TextEncodings Tokens Transport"),
    program(
        "BoxofficeMain", "Services/Operator/Main", uses: "AdministrationCommands ArgumentParser ClusterCommands CommandKit ServiceKit Simulation",
        "WorkshopCommands"),
]

// What tests, benchmarks and faults share.
if hasAny("tests", "benchmarks", "mutations") { package.targets.append(library("SamlSigner", "Tests/Support/SamlSigner")) }
if hasAny("tests") { package.targets.append(library("PairedTimes", "Tests/Support/PairedTimes")) }
if hasAny("tests", "chaos") { package.targets.append(library("FaultProxy", "Tests/Chaos/Proxy", uses: "NIOCore", "NIOPosix")) }

// Faults under load: a program, as it runs on release binaries.
if hasAny("chaos") {
    package.products.append(.executable(name: "chaos", targets: ["ChaosSuite"]))
    package.targets.append(
        program(
            "ChaosSuite", "Tests/Chaos/Suite", uses: "ArgumentParser AsyncHTTPClient ClusterCommands CommandKit FaultProxy LoadTool NIOCore",
            "NIOHTTP1 NIOPosix NIOSSL PrivatePostgres Simulation TextEncodings"))
}

if hasAny("mutations") {
    package.products.append(.executable(name: "saml-mutations", targets: ["SamlMutations"]))
    package.targets.append(
        .executableTarget(
            name: "SamlMutations", dependencies: ["Clocks", "SamlProfile", "SamlSigner"], path: "Tests/Fuzz/SamlMutations", exclude: ["run"],
            swiftSettings: strict))
}

// Benchmarks: programs, not tests.
if hasAny("benchmarks") {
    package.products += executables([
        "wire-benchmark": "WireBenchmark", "gateway-benchmark": "GatewayBenchmark", "saml-benchmark": "SamlBenchmark",
        "apple-benchmark": "AppleBenchmark", "store-benchmark": "StoreBenchmark", "client-benchmark": "ClientBenchmark",
    ])
    package.targets += [
        program(
            "WireBenchmark", "Tests/Benchmarks/Wire", uses: "ArgumentParser ContractRuntime Contracts Cryptography EventLoops Faults Logging",
            "NIOCore NIOPosix Rpc Transport"),
        program(
            "GatewayBenchmark", "Tests/Benchmarks/Gateway", uses: "ArgumentParser CommandKit EntitlementClient GatewayEdge Hummingbird",
            "HummingbirdCore Logging OutboundHttp Simulation TextEncodings"),
        program(
            "StoreBenchmark", "Tests/Benchmarks/Store", uses: "ArgumentParser AuthenticationAdministration AuthenticationCore Clocks Contracts",
            "Faults GRDB Identifiers PrivatePostgres Storage StoragePostgres StorageSqlite"),
        program("ClientBenchmark", "Tests/Benchmarks/Client", uses: "ArgumentParser EntitlementClient EntitlementSimulator"),
        program("AppleBenchmark", "Tests/Benchmarks/Apple", uses: "ArgumentParser AutoSignInService Clocks Cryptography"),
        program("SamlBenchmark", "Tests/Benchmarks/Saml", uses: "ArgumentParser Clocks SamlProfile SamlSigner"),
    ]
}

/// What each suite imports.
let suites = """
    SpansTests: ContractRuntime Faults SpanRecordings Spans Storage StorageSqlite
    TelemetryTests: ContractRuntime CoreMetrics Logging OtlpReceiver OutboundHttp SpanRecordings Spans Telemetry
    OutboundHttpTests: Clocks ContractRuntime Cryptography Hummingbird HummingbirdHTTP2 NIOCore NIOPosix NIOSSL OtlpReceiver OutboundHttp \
        SpanRecordings Spans
    FaultProxyTests: FaultProxy NIOCore NIOPosix
    OctetsTests: Octets
    ClocksTests: Clocks
    TextEncodingsTests: TextEncodings
    IdentifiersTests: Clocks Identifiers
    MemosTests: Memos
    BridgeClientTests: BridgeClient Clocks Contracts Cryptography Faults OutboundHttp StrictJson
    UsageCountingTests: Clocks ContractRuntime Contracts Doubles Faults Logging ManualClocks UsageCounting
    StrictJsonTests: StrictJson
    CatalogueTests: \(common) Catalogue Logging
    CatalogueFilesTests: Catalogue CatalogueFiles CatalogueSamples Clocks Contracts Cryptography Tokens
    ContractsTests: ContractReflection ContractRuntime Contracts Faults StrictJson
    CryptographyTests: Clocks Cryptography Octets
    TransportTests: Cryptography Faults NIOCore NIOEmbedded NIOPosix TestIdentities Transport
    RpcTests: ContractRuntime Contracts Cryptography FaultProxy Faults Frames Logging NIOConcurrencyHelpers NIOCore NIOPosix Rpc SpanRecordings \
        Spans TestIdentities Transport
    TokensTests: Clocks Cryptography Faults ManualClocks MediaTokenVerifier Tokens
    StorageTests: Clocks Faults GRDB Logging ManualClocks Memos Storage StorageSqlite
    StoragePostgresTests: \(stores) Clocks Cryptography Faults Logging ManualClocks PrivatePostgres SpanRecordings Spans TestIdentities
    ServiceKitTests: \(common) \(stores) Catalogue CoreMetrics EventLoops Hummingbird HummingbirdTesting Logging ManualClocks NIOCore NIOEmbedded \
        NIOHTTPTypes NIOPosix OutboundHttp Rpc ServiceKit ServiceLifecycle Telemetry Tokens Transport UnixSignals UsageCounting
    ConfigServiceTests: \(common) \(stores) Catalogue CatalogueFiles CatalogueSamples ConfigService Doubles Logging ManualClocks OutboundHttp Tokens
    AuthenticationServiceTests: \(common) \(stores) AuthenticationAdministration AuthenticationCore AuthenticationSignIn AuthenticationUpstreams \
        BridgeClient Catalogue CoreMetrics Doubles Identifiers Logging ManualClocks OutboundHttp SamlExplanation SamlProfile SamlSigner ServiceKit \
        TextEncodings Tokens UsageCounting
    AuthorizationServiceTests: \(common) \(stores) AuthorizationService Catalogue Doubles Logging ManualClocks MediaRss MediaTokenVerifier NIOCore \
        NIOPosix NIOSSL OutboundHttp SamlSigner ServiceKit Tokens UsageCounting
    AutoSignInServiceTests: \(common) \(stores) AutoSignInService Catalogue CoreMetrics Doubles Identifiers Logging ManualClocks OutboundHttp \
        PairedTimes ServiceKit Tokens
    SandboxServiceTests: Clocks Hummingbird HummingbirdTesting Logging ManualClocks SandboxApple SandboxKit SandboxProviders SandboxService \
        SandboxVendor
    LoadReportingTests: LoadReporting
    LoadToolTests: ContractRuntime Contracts Cryptography Faults LoadReporting LoadTool Logging NIOCore NIOPosix Rpc Transport
    EntitlementClientTests: EntitlementClient EntitlementSimulator
    AccessEnablerTests: AccessEnabler Cryptography EntitlementClient Tokens
    ContractReflectionTests: ContractReflection ContractRuntime Contracts StrictJson
    PeerDoublesTests: \(common) PeerDoubles Tokens
    ContractConformanceTests: \(common) AuthorizationService AutoSignInService Catalogue ContractConformance Doubles Frames Logging NIOCore \
        NIOPosix OutboundHttp PeerDoubles Rpc Storage StorageSqlite Tokens Transport
    CommandLineTests: \(common) \(stores) AdministrationCommands ArgumentParser AsyncHTTPClient BoxofficeMain CatalogueFiles ClusterCommands \
        CommandKit Doubles EntitlementClient EntitlementSimulator LoadReporting LoadTool Logging MediaTokenVerifier NIOCore NIOHTTP1 NIOPosix \
        NIOSSL OutboundHttp PrivatePostgres Rpc SamlResponder ServiceKit Simulation Tokens Transport WorkshopCommands
    IntegrationTests: \(common) AdministrationCommands AsyncHTTPClient ClusterCommands CommandKit ContractConformance CSpawn EntitlementClient \
        EntitlementSimulator LoadReporting Logging ManualClocks MediaTokenVerifier NIOCore NIOPosix OtlpReceiver PairedTimes PeerDoubles \
        PostgresServer Rpc SamlSigner ServiceKit Simulation Storage TextEncodings Tokens Transport WorkshopCommands
    """

if hasAny("tests") {
    package.targets += suites.split(separator: "\n").map { $0.split(separator: ":").map(String.init) }.map { tests($0[0], $0[1]) }
    package.targets += [
        library("SpanRecordings", "Tests/Support/SpanRecordings", uses: "ContractRuntime Spans"),
        library("OtlpReceiver", "Tests/Support/OtlpReceiver", uses: "Hummingbird Logging NIOCore"),
        library("TestIdentities", "Tests/Support/TestIdentities", uses: "Cryptography Transport"),
        library("ManualClocks", "Tests/Support/ManualClocks", uses: "Clocks"),
        library("Doubles", "Tests/Support/Doubles", common, uses: "Catalogue NIOConcurrencyHelpers"),
        library("PostgresServer", "Tests/Support/PostgresServer", uses: "PrivatePostgres Storage StoragePostgres StorageSqlite", exclude: ["Kept"]),
        library("CatalogueSamples", "Tests/Support/CatalogueSamples", uses: "CatalogueFiles Clocks Cryptography ManualClocks"),
        tests("FramesTests", "ContractRuntime Contracts Faults Frames", exclude: ["Golden"]),
        tests("SamlProfileTests", "Clocks PairedTimes SamlProfile SamlSigner", exclude: ["Peers"]),
        tests(
            "GatewayServiceTests",
            """
            \(common) BridgeClient Doubles EventLoops GatewayAdministration GatewayEdge GatewayPublicApi Hummingbird HummingbirdCore \
            HummingbirdTesting Logging ManualClocks NIOCore NIOEmbedded NIOPosix NIOSSL OutboundHttp SamlProfile SpanRecordings Spans StrictJson
            """, exclude: ["Faces/refusals.txt"]),
    ]
}
