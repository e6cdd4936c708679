internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Logging
internal import NIOPosix
internal import Rpc
internal import Transport

/// Brings a catalogue to the `config` of a cluster, as its administrator.
struct CatalogueImporter: Sendable {
    let address: RpcAddress
    /// The operator's certificate.
    let identity: TlsFiles
    /// Bearer of an administrator with the role operator.
    let token: String

    /// - Throws: `CommandFailure` when the file names no `config`.
    init(_ cluster: ClusterFile) throws {
        guard let entry = cluster.services[ClusterService.config.rawValue], let address = RpcAddress(entry.address) else {
            throw CommandFailure("cluster.json names no address of config", advice: "restart the cluster")
        }
        self.address = address
        identity = TlsFiles(certificate: cluster.pki.clientCert, key: cluster.pki.clientKey, trustAnchors: cluster.pki.ca)
        token = cluster.adminToken
    }

    /// - Parameter catalogue: `nil`: the file that `config` itself has.
    /// - Throws: `CommandFailure` when `config` cannot be asked.
    func bring(_ catalogue: OwnCatalogue?, isForced: Bool) async throws -> CatalogueImport {
        do {
            return try await ask(ImportCatalogueRequest(token: token, catalogue: catalogue?.text ?? "", force: isForced))
        } catch let fault as Fault {
            let reason = fault.message.hasSuffix(".") ? String(fault.message.dropLast()) : fault.message
            throw CommandFailure(
                "config does not take in \(catalogue?.file ?? "its catalogue file"): \(reason)", advice: Self.advice(fault, catalogue))
        }
    }

    private static func advice(_ fault: Fault, _ catalogue: OwnCatalogue?) -> String {
        switch fault.code {
        case .unimplemented: "it is a service of your own, or of an earlier release: change its catalogue there"
        case .insufficientRole, .accessDenied: "the administrator of cluster.json must have the role operator in config's settings"
        default:
            "its log says why; a message has at most limits.frameBytes of its settings (4 MiB), this catalogue \(catalogue?.text.utf8.count ?? 0) bytes"
        }
    }

    private func ask(_ request: ImportCatalogueRequest) async throws -> CatalogueImport {
        let configuration = RpcClient.Configuration(
            addresses: [address], peerName: ClusterService.config.certificateName, identity: try TlsIdentity(files: identity), software: "boxoffice",
            softwareVersion: SoftwareVersion.current)
        let client = RpcClient(
            configuration: configuration, group: MultiThreadedEventLoopGroup.singleton,
            logger: Logger(label: "boxoffice", factory: { _ in SwiftLogNoOpLogHandler() }))
        let outcome: Result<CatalogueImport, any Error>
        do {
            outcome = .success(
                try await AdministrationClient(caller: client).importCatalogue(request, context: CallContext(deadline: .now + .seconds(60))))
        } catch {
            outcome = .failure(error)
        }
        await client.shutDown()
        return try outcome.get()
    }
}
