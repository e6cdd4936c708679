@testable import ClusterCommands
@testable import CommandKit
import ServiceKit
import ContractRuntime
import Contracts
import Logging
import NIOPosix
import Rpc
import Transport

/// Calls of operators to the autosignin service.
enum AutoSignInOperator {
    static func ask<Answer: Sendable>(_ body: @Sendable (any AutoSignInOperations, CallContext) async throws -> Answer) async throws -> Answer {
        let cluster = try TestCluster.running()
        let pki = LocalPki(folder: cluster.home.pki)
        let files = TlsFiles(certificate: pki.path("operator.crt"), key: pki.path("operator.key"), trustAnchors: pki.path("ca.crt"))
        let configuration = RpcClient.Configuration(
            addresses: [RpcAddress(host: "127.0.0.1", port: cluster.ports.main(.autosignin))],
            peerName: ClusterService.autosignin.certificateName, identity: try TlsIdentity(files: files), software: "boxoffice",
            softwareVersion: SoftwareVersion.current)
        let client = RpcClient(
            configuration: configuration, group: MultiThreadedEventLoopGroup.singleton,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        do {
            let answer = try await body(AutoSignInOperationsClient(caller: client), CallContext(deadline: .now + .seconds(10)))
            await client.shutDown()
            return answer
        } catch {
            await client.shutDown()
            throw error
        }
    }

    static func setLock(_ account: String, _ isLocked: Bool) async throws -> Bool {
        try await ask { try await $0.setAccountLock(SetAccountLockRequest(accountID: account, isLocked: isLocked), context: $1).wasKnown }
    }

    /// The calls to Apple for an opt-in that were given up.
    static func deadLetters(of family: String) async throws -> [DeadLetter] {
        try await ask { try await $0.listDeadLetters(ListDeadLettersRequest(), context: $1).letters }.filter { $0.familyID == family }
    }
}
