package import CommandKit
package import ContractRuntime
package import Contracts
internal import Faults
internal import Foundation
internal import Logging
internal import NIOPosix
package import Rpc
internal import ServiceKit
internal import Transport

/// Brings a catalogue to the `config` of a cluster, as its administrator.
package struct CatalogueImporter: Sendable {
    let address: RpcAddress
    /// The operator's certificate.
    let identity: TlsFiles
    /// Bearer of an administrator with the role operator.
    package let token: String

    /// - Parameter catalogue: `nil`: the file that `config` itself has.
    /// - Throws: `CommandFailure` when `config` cannot be asked.
    package func bring(_ catalogue: OwnCatalogue?, isForced: Bool) async throws -> CatalogueImport {
        do {
            let request = ImportCatalogueRequest(token: token, catalogue: catalogue?.text ?? "", force: isForced)
            return try await ask { try await AdministrationClient(caller: $0).importCatalogue(request, context: $1) }
        } catch let fault as Fault {
            throw CommandFailure(
                "config does not take in \(catalogue?.file ?? "its catalogue file"): \(Self.reason(fault))", advice: Self.advice(fault, catalogue))
        }
    }

    /// The keys of software statements, oldest first.
    /// - Parameter id: The id of the key to take out before; `nil`: none.
    /// - Throws: `CommandFailure`.
    package func statementKeys(retiring id: String?) async throws -> [StatementKey] {
        do {
            return try await ask { [token] config, context in
                let administration = AdministrationClient(caller: config)
                guard let id else { return try await administration.listStatementKeys(ListStatementKeysRequest(token: token), context: context) }
                return try await administration.retireStatementKey(RetireStatementKeyRequest(token: token, keyID: id), context: context)
            }.keys
        } catch let fault as Fault {
            throw CommandFailure("config does not do it: \(Self.reason(fault))", advice: Self.advice(fault, nil))
        }
    }

    private static func reason(_ fault: Fault) -> String { fault.message.hasSuffix(".") ? String(fault.message.dropLast()) : fault.message }

    private static func advice(_ fault: Fault, _ catalogue: OwnCatalogue?) -> String {
        switch fault.code {
        case .unimplemented: "it is a service of your own, or of an earlier release: change its catalogue there"
        case .insufficientRole, .accessDenied: "the administrator of cluster.json must have the role operator in config's settings"
        case .notFound, .invalidRequest: "'boxoffice catalogue keys' lists the keys"
        default:
            "its log says why; a message has at most limits.frameBytes of its settings (4 MiB), this catalogue \(catalogue?.text.utf8.count ?? 0) bytes"
        }
    }

    /// Calls `config` over a connection of its own.
    package func ask<Answer: Sendable>(_ call: (_ config: RpcClient, _ context: CallContext) async throws -> Answer) async throws -> Answer {
        let configuration = RpcClient.Configuration(
            addresses: [address], peerName: ClusterService.config.certificateName, identity: try TlsIdentity(files: identity), software: "boxoffice",
            softwareVersion: SoftwareVersion.current)
        let client = RpcClient(
            configuration: configuration, group: MultiThreadedEventLoopGroup.singleton,
            logger: Logger(label: "boxoffice", factory: { _ in SwiftLogNoOpLogHandler() }))
        let outcome: Result<Answer, any Error>
        do {
            outcome = .success(try await call(client, CallContext(deadline: .now + .seconds(60))))
        } catch {
            outcome = .failure(error)
        }
        await client.shutDown()
        return try outcome.get()
    }
}

extension CatalogueImporter {
    /// - Throws: `CommandFailure` when the file names no `config`.
    package init(_ cluster: ClusterFile) throws {
        guard let entry = cluster.services[ClusterService.config.rawValue], let address = RpcAddress(entry.address) else {
            throw CommandFailure("cluster.json names no address of config", advice: "restart the cluster")
        }
        self.address = address
        identity = TlsFiles(certificate: cluster.pki.clientCert, key: cluster.pki.clientKey, trustAnchors: cluster.pki.ca)
        token = cluster.adminToken
    }
}

/// The difference of one catalogue file from another.
enum CatalogueComparison {
    /// At most so many entries are named.
    private static let most = 20

    /// - Returns: Entries as `mvpds/NorthCable`; none when a file cannot be read: whoever reads it for real says why.
    static func lacking(in file: URL, of other: URL) -> [String] {
        let (own, others) = (entries(file), entries(other))
        let lacking = others.filter { !own.contains($0) }
        return lacking.count > most ? Array(lacking.prefix(most)) + ["\(lacking.count - most) more"] : lacking
    }

    private static func entries(_ file: URL) -> [String] {
        guard let content = FileManager.default.contents(atPath: file.path),
            let object = try? JSONSerialization.jsonObject(with: content) as? [String: Any]
        else { return [] }
        return object.keys.sorted().flatMap { collection -> [String] in
            ((object[collection] as? [[String: Any]]) ?? []).compactMap { entry in
                let id = entry["id"] as? String ?? [entry["requestor"], entry["mvpd"]].compactMap { $0 as? String }.joined(separator: "/")
                return id.isEmpty ? nil : "\(collection)/\(id)"
            }
        }
    }
}

extension CatalogueImport {
    /// At most so many changes are printed.
    private static let most = 50

    /// The lines that a person reads of it.
    /// - Throws: `CommandFailure` when it was refused.
    package func told(of file: String) throws -> [String] {
        switch outcome {
        case .version(let version) where isNew:
            return ["\(file) is version \(version.version)\(replaced), with \(changeCount) changes:"] + lines
        case .version(let version): return ["\(file) says what version \(version.version) says: nothing is changed"]
        case .pending(let push): return ["\(file) waits for a second person as push \(push.id), with \(changeCount) changes:"] + lines
        case .refusal(let refusal) where refusal.reason == .conflict:
            let versions = pushedVersions.map { "\($0)" }.joined(separator: ", ")
            let problem = (["\(file) is not taken in: it would undo what administrators pushed (\(versions))"] + lines).joined(separator: "\n")
            throw CommandFailure(
                problem, advice: "'boxoffice catalogue import \(file) --force' takes it in all the same; the versions can be restored")
        case .refusal(let refusal):
            let problems = refusal.problems.map { "\n  \($0.field) \($0.message)" }.joined()
            throw CommandFailure("\(file) is not taken in: \(refusal.message)\(problems)")
        case nil: throw CommandFailure("config answered without an outcome", advice: "it is of another release: restart it")
        }
    }

    private var replaced: String {
        pushedVersions.isEmpty || changes.isEmpty ? "" : ", in place of " + pushedVersions.map { "\($0)" }.joined(separator: ", ")
    }

    private var lines: [String] {
        let left = changeCount - min(changeCount, UInt64(min(changes.count, Self.most)))
        return changes.prefix(Self.most).map { "    \($0.text)" } + (left > 0 ? ["    and \(left) more"] : [])
    }
}
