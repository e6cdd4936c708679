import ContractConformance
import Contracts
import Cryptography
import PeerDoubles
import Rpc
import Testing
import Tokens
import Transport

/// A Config double that is examined, with a mutant in front of it where there is one.
struct ExaminedDouble {
    let authority: TestAuthority
    let doubles: PeerDoubles
    let subject: Subject
    private let proxy: MutantProxy?

    init(_ configuration: Configuration? = nil, behind mutation: Mutation? = nil) async throws {
        authority = try TestAuthority()
        doubles = try PeerDoubles(
            at: [.config: RpcAddress(host: "127.0.0.1", port: 0)], configuration: try configuration ?? SampleCatalogue.configuration(),
            keys: DoubleKeys(statement: JoseSigningKey(try P256PrivateKey.generate())), pki: authority.pki)
        let address = try #require(try await doubles.start()[.config])
        if let mutation {
            proxy = try await MutantProxy(
                as: TlsIdentity(files: authority.files("config")), calling: TlsIdentity(files: authority.files("operator")),
                service: "config.boxoffice", port: address.port, mutation: mutation)
        } else {
            proxy = nil
        }
        var subject = Subject(service: .config, host: "127.0.0.1", port: proxy?.port ?? address.port, caller: authority.files("operator"))
        if mutation?.breaks.isEmpty == false { subject.patience = .seconds(2) }
        subject.stranger = authority.files("stranger")
        subject.foreigner = authority.files("foreigner")
        let config = doubles.config
        subject.change = { try config.publish(config.configuration) }
        // It keeps what it has.
        subject.restart = {}
        self.subject = subject
    }

    /// - Parameter ids: Those to try; `nil`: all.
    func examine(_ ids: [String]? = nil) async -> ConformanceReport {
        let requirements = ids.map { ids in subject.service.requirements.filter { ids.contains($0.id) } }
        let report = await ConformanceRun(subject, requirements: requirements).run()
        await proxy?.close()
        await doubles.stop()
        return report
    }
}
