@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// The images are built where there is a Docker engine only; what they lack shows here too.
@Suite struct ImageTests {
    /// Debian's package of each library that comes with neither the system nor the Swift runtime, which is linked in or copied.
    private static let packages = [
        "libsqlite3.so": "libsqlite3-0", "libssl.so": "libssl3", "libcrypto.so": "libssl3", "libprotobuf-c.so": "libprotobuf-c1",
        "libxml2.so": "libxml2", "libxmlsec1.so": "libxmlsec1", "libxmlsec1-openssl.so": "libxmlsec1-openssl", "libxslt.so": "libxslt1.1",
        "libz.so": "zlib1g", "libcurl.so": "libcurl4", "libqrencode.so": "libqrencode4", "libstdc++.so": "libstdc++6",
        "libpq.so": "libpq5",
    ]

    @Test("each image installs the libraries that its program needs", arguments: ["Operator"] + ClusterService.allCases.map(\.folder))
    func installsLibraries(folder: String) async throws {
        let program = ClusterService.allCases.first { $0.folder == folder }?.rawValue ?? "boxoffice"
        let binary = try TestCluster.binaries(Checkout.current).appendingPathComponent(program)
        let listing = try Self.output("/usr/bin/ldd", binary.path)
        let needed = Set(Self.packages.filter { listing.contains($0.key + ".") || listing.contains($0.key + " ") }.values)
        #expect(needed.contains("libssl3"), "\(listing)")
        let dockerfile = try String(contentsOf: Checkout.current.appendingPathComponent("Services/\(folder)/Dockerfile"), encoding: .utf8)
        let installed = Set(dockerfile.split(whereSeparator: \.isWhitespace).map(String.init))
        #expect(needed.subtracting(installed).isEmpty, "\(folder) lacks \(needed.subtracting(installed).sorted())")
    }

    private static func output(_ program: String, _ argument: String) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = [argument]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let content = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: content, as: UTF8.self)
    }
}
