package import ArgumentParser
internal import CommandKit
internal import Foundation
internal import MediaTokenVerifier
internal import Simulation

/// `boxoffice verify`: checks a media token offline.
package struct VerifyCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check a short media token.",
        discussion: """
            Prints the verdict and what the token says; exit code 0 only for VALID_TOKEN. The keys come from --certificate or --jwks; without \
            them from --gateway, or from the local cluster.
            """
    )

    @Argument(help: "The token as the app got it; '-' reads it from standard input.")
    var token: String

    @Option(help: "The requestor that the token must be for; without it that is not checked.")
    var requestor: String?

    @Option(help: "The resource that the token must be for; without it that is not checked.")
    var resource: String?

    @Option(help: "A PEM file with certificates that verify the reference form; may be repeated.")
    var certificate: [String] = []

    @Option(help: "A file with a JSON Web Key Set that verifies the JWS form.")
    var jwks: String?

    @Option(help: "Base URL of the gateway to get the keys from.")
    var gateway: String?

    @Flag(help: "Print JSON.")
    var json = false

    package init() {}

    package func run() async throws {
        let text = token == "-" ? String(decoding: FileHandle.standardInput.readDataToEndOfFile(), as: UTF8.self) : token
        let check = MediaTokenVerifier(trustedKeys: try await keys()).verify(text, requestor: requestor, resource: resource)
        print(try MediaTokenReport(check).text(asJSON: json))
        guard check.verdict == .valid else { throw CommandExit.failed.exitCode }
    }

    private func keys() async throws -> TrustedMediaTokenKeys {
        guard certificate.isEmpty, jwks == nil else {
            return try MediaTokenKeys.trusted(certificates: certificate.map(TextFile.read).joined(separator: "\n"), jwks: jwks.map(TextFile.read))
        }
        let cluster = try ClusterFile.read(ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current))
        guard let gateway = gateway ?? cluster?.gateway else {
            throw CommandFailure("there are no keys to check with", advice: "pass --certificate FILE, --jwks FILE or --gateway URL", exit: .usage)
        }
        let client = HTTPExchange.makeClient(trusting: cluster?.authority)
        let keys: Result<TrustedMediaTokenKeys, any Error>
        do {
            let further = self.gateway == nil ? try cluster?.upstreamCertificates() : nil
            keys = .success(try await MediaTokenKeys.trusted(by: gateway, further: further, HTTPExchange(client: client)))
        } catch {
            keys = .failure(error)
        }
        try await client.shutdown()
        return try keys.get()
    }
}
