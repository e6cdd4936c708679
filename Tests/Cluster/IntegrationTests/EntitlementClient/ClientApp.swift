@testable import ClusterCommands
@testable import CommandKit
@testable import Simulation
import Cryptography
import EntitlementClient
import EntitlementSimulator
import Foundation
import MediaTokenVerifier
import Testing
import TextEncodings

/// An app on a device of its own, made with the client library, against the programs of the suite's cluster.
struct ClientApp: Sendable {
    /// The versions of the API over which the cases run.
    static let versions = RestVersion.allCases

    let client: EntitlementClient
    let environment: ClientEnvironment
    let cluster: TestCluster

    /// - Parameter change: Changes the environment of the device.
    static func make(
        _ platform: DeviceDescription.Platform, _ version: RestVersion = .v1,
        change: (inout ClientEnvironment, TestCluster, URL) throws -> Void = { _, _, _ in }
    ) throws -> ClientApp {
        let cluster = try TestCluster.running()
        let file = try #require(try ClusterFile.read(cluster.home))
        let device = DeviceDescription(platform: platform, model: "Integration test", systemVersion: "26.0", id: UUID().uuidString)
        var environment = ClientEnvironment(
            server: try #require(URL(string: cluster.gateway)), device: device, store: MemoryStore(), bundleID: "example.acme.tv")
        environment.pollInterval = .seconds(3)
        environment.restVersion = version
        try change(&environment, cluster, try #require(URL(string: file.sandbox.apple)))
        let client = EntitlementClient(softwareStatement: try #require(file.softwareStatements["acme-tv"]), environment: environment)
        return ClientApp(client: client, environment: environment, cluster: cluster)
    }

    /// The same app, started anew.
    /// - Parameter version: `nil`: as before.
    func relaunched(_ version: RestVersion? = nil) throws -> ClientApp {
        var environment = environment
        environment.restVersion = version ?? environment.restVersion
        let statement = try #require(try ClusterFile.read(cluster.home)?.softwareStatements["acme-tv"])
        return ClientApp(
            client: EntitlementClient(softwareStatement: statement, environment: environment), environment: environment, cluster: cluster)
    }

    /// The person that a media token names, which a player's backend verifies.
    func verifiedUser(of token: MediaToken) throws -> String? {
        let file = try #require(try ClusterFile.read(cluster.home))
        let keys = try TrustedMediaTokenKeys(certificates: [try Certificate(pemFile: file.mediaTokenCertificate)])
        return MediaTokenVerifier(trustedKeys: keys).verify(token.serialized, requestor: "ACME1", resource: token.resource.rawValue).facts?
            .sessionGUID
    }

    func person(_ name: String = "ada", at provider: Provider.ID?) -> ClusterPerson {
        ClusterPerson(name: name, provider: provider, cluster: cluster)
    }
}

/// A person of the sandbox, who signs in on the pages that the app opens, or with the code that it shows.
struct ClusterPerson: AuthenticationInteraction {
    let name: String
    let provider: Provider.ID?
    let cluster: TestCluster

    func chooseProvider(from providers: [Provider], reason: StatusCode?) async -> Provider.ID? {
        providers.contains { $0.id == provider } ? provider : nil
    }

    func openLogin(_ url: URL, style: BrowserStyle) async -> URL? {
        var browser = SimulatedPerson(exchange: cluster.exchange)
        let end = try? await browser.signIn(at: url.absoluteString, name: name, password: name, until: "adobepass://ios.app")
        return end.flatMap { URL(string: $0) }
    }

    func showCode(_ code: RegistrationCode) async {
        var browser = SimulatedPerson(exchange: cluster.exchange)
        if code.loginAddress == nil, let page = code.addressWithCode {
            _ = try? await browser.signIn(at: page.absoluteString, name: name, password: name, until: "https://acme.example")
            return
        }
        let end = "\(cluster.gateway)/activate/done"
        let query = FormEncoding.encode([
            ("reg_code", code.code), ("requestor_id", "ACME1"), ("mso_id", code.provider.rawValue), ("domain_name", "acme.example"),
            ("noflash", "true"), ("no_iframe", "true"), ("redirect_url", "\(end)?code=\(code.code)&requestor=ACME1"),
        ])
        _ = try? await browser.signIn(at: "\(cluster.gateway)/api/v1/authenticate?\(query)", name: name, password: name, until: end)
    }

    func present(_ picker: ProviderPicker) async {}
    func dismiss(_ picker: ProviderPicker) async {}
}
