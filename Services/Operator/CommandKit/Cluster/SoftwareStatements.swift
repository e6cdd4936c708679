internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Logging
internal import NIOPosix
package import Rpc
internal import ServiceKit
package import Transport

/// Asks `config` for a software statement of each registered application that may have one, as the operator.
package struct SoftwareStatements: Sendable {
    /// The address of `config`.
    let address: RpcAddress
    /// The operator's.
    let identity: TlsFiles

    package init(address: RpcAddress, identity: TlsFiles) { (self.address, self.identity) = (address, identity) }

    /// - Throws: `CommandFailure` when the file names no `config`.
    package init(_ cluster: ClusterFile) throws {
        guard let entry = cluster.services[ClusterService.config.rawValue], let address = RpcAddress(entry.address) else {
            throw CommandFailure("cluster.json names no address of config", advice: "restart the cluster")
        }
        self.address = address
        identity = TlsFiles(certificate: cluster.pki.clientCert, key: cluster.pki.clientKey, trustAnchors: cluster.pki.ca)
    }

    /// By application.
    package static func all(of cluster: ClusterFile?) async throws -> [String: String] {
        // The program that wrote the file could not ask for them yet.
        guard let cluster, cluster.softwareStatements.isEmpty else { return cluster?.softwareStatements ?? [:] }
        return try await SoftwareStatements(cluster).fetch()
    }

    /// - Returns: Statements by application id.
    /// - Throws: `CommandFailure` when `config` does not give them.
    package func fetch() async throws -> [String: String] {
        do {
            return try await ask()
        } catch {
            throw CommandFailure("config gives no software statements (\(PlainReason.of(error)))", advice: "its log says why")
        }
    }

    /// As `fetch`, of a `config` that need not issue any.
    /// - Returns: `nil` when it says that it issues none, or none to the operator.
    package func fetchIfIssued() async throws -> [String: String]? {
        do {
            return try await ask()
        } catch let fault as Fault where [.unimplemented, .permissionDenied].contains(fault.code) {
            return nil
        } catch {
            throw CommandFailure("config gives no software statements (\(PlainReason.of(error)))", advice: "its log says why")
        }
    }

    private func ask() async throws -> [String: String] {
        let client = try connect()
        let outcome: Result<[String: String], any Error>
        do {
            outcome = .success(try await Self.issued(by: ConfigClient(caller: client)))
        } catch {
            outcome = .failure(error)
        }
        await client.shutDown()
        return try outcome.get()
    }

    /// - Returns: By application id. An application whose statements are revoked has none, until an administrator downloads the next one (dashboard #14).
    static func issued(by config: some Config) async throws -> [String: String] {
        let context = CallContext(deadline: .now + .seconds(10))
        let applications = try await config.getConfiguration(GetConfigurationRequest(), context: context).applications
        var statements: [String: String] = [:]
        for application in applications {
            let request = IssueSoftwareStatementRequest(applicationID: application.id)
            do {
                statements[application.id] = try await config.issueSoftwareStatement(request, context: context.child()).statement
            } catch let fault as Fault where fault.code == .unapprovedSoftwareStatement {
                continue
            }
        }
        return statements
    }

    private func connect() throws -> RpcClient {
        let configuration = RpcClient.Configuration(
            addresses: [address], peerName: ClusterService.config.certificateName, identity: try TlsIdentity(files: identity), software: "boxoffice",
            softwareVersion: SoftwareVersion.current)
        return RpcClient(
            configuration: configuration, group: MultiThreadedEventLoopGroup.singleton,
            logger: Logger(label: "boxoffice", factory: { _ in SwiftLogNoOpLogHandler() }))
    }
}
