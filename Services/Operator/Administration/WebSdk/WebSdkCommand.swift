package import ArgumentParser
internal import CommandKit
internal import Cryptography
internal import Foundation

/// `boxoffice web-sdk`: how a page loads the gateway's script of the web SDK.
package struct WebSdkCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "web-sdk",
        abstract: "Print the script element by which a page loads the web SDK from the gateway, with its integrity hash.",
        discussion: """
            The address has the script's version and never has other content; browsers refuse a script that does not fit the hash. The address without \
            a version always has the newest one.
            """)

    @Option(help: "Base URL of the gateway as pages reach it; without it, the running cluster's.")
    var gateway: String?

    @Flag(help: "Print JSON.")
    var json = false

    package init() {}

    package func run() async throws {
        let cluster = try ClusterFile.read(ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current))
        guard let address = gateway ?? cluster?.gateway else {
            throw CommandFailure("there is no gateway to ask", advice: "start a cluster with ./Services/up, or pass --gateway URL", exit: .usage)
        }
        let script = try await HTTPExchange.once(trusting: cluster?.authority) { exchange in
            try await WebSdkScript(at: address.hasSuffix("/") ? String(address.dropLast()) : address, exchange)
        }
        print(json ? try script.json() : script.element)
    }
}

/// The script of a gateway, as a page names it.
struct WebSdkScript: Encodable, Equatable {
    private static let file = "AccessEnabler.js"
    private static let folder = "/entitlement/v4"

    /// The first 16 hex digits of the hash.
    let version: String
    /// Never has other content.
    let address: String
    /// SHA-256 in the form of Subresource Integrity.
    let integrity: String
    /// Always has the newest version.
    let newestAddress: String

    /// - Parameters:
    ///   - gateway: Base URL, without a slash at the end.
    ///   - content: The script's octets.
    init(gateway: String, content: [UInt8]) {
        let hash = SHA256.hash(content)
        version = String(Hex.encode(hash).prefix(16))
        integrity = "sha256-" + Base64.standard.encode(hash)
        newestAddress = "\(gateway)\(Self.folder)/\(Self.file)"
        address = "\(gateway)\(Self.folder)/\(version)/\(Self.file)"
    }

    /// Reads the newest script and the one of its version, which must be the same.
    /// - Throws: `CommandFailure` where the gateway has no script, or another one at the address of that version.
    init(at gateway: String, _ exchange: HTTPExchange) async throws {
        let newest = try await exchange.send("GET", "\(gateway)\(Self.folder)/\(Self.file)")
        guard newest.status == 200 else {
            throw CommandFailure(
                "\(WebAddress.origin(of: gateway)) has no script of the web SDK (status \(newest.status))",
                advice: "check that it is a gateway, and that its pages are of the same release (setting gateway.pages)")
        }
        self.init(gateway: gateway, content: newest.body)
        let fixed = try await exchange.send("GET", address)
        guard fixed.status == 200, fixed.body == newest.body else {
            throw CommandFailure(
                "\(address) does not have the script that \(newestAddress) has (status \(fixed.status))",
                advice: "gateways of two releases answer there: try again when all are updated")
        }
    }

    /// The element for a page.
    var element: String { "<script src=\"\(address)\" integrity=\"\(integrity)\" crossorigin=\"anonymous\"></script>" }

    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}
