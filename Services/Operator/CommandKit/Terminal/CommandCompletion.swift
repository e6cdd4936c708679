package import ArgumentParser
internal import Foundation
internal import Synchronization

/// What a shell offers for the value of an option or an argument.
extension CompletionKind {
    /// The services of a cluster.
    package static var services: CompletionKind { .list(ClusterService.allCases.filter { $0 != .sandbox }.map(\.rawValue)) }

    /// The services that speak the wire.
    package static var rpcServices: CompletionKind { .list(ClusterService.allCases.filter { $0 != .sandbox && $0 != .gateway }.map(\.rawValue)) }

    /// Those who live in the sandbox.
    package static var people: CompletionKind { .list(SandboxPeople.names) }

    /// What the running cluster's catalogue has; nothing where none runs.
    package static func catalogue(_ kind: CatalogueNames.Kind) -> CompletionKind {
        let known: @Sendable ([String], Int, String) -> [String] = { _, _, _ in CatalogueNames.known(kind) }
        return .custom(known)
    }
}

/// Ids of the running cluster's catalogue, for completion alone.
package enum CatalogueNames {
    /// Collections of the administration API.
    package enum Kind: String, CaseIterable, Sendable { case mvpds, requestors }

    private static let read = Mutex<[Kind: [String]]>([:])
    /// The administration API gives no more at once; somebody who has more types on.
    private static let most = 200

    static func known(_ kind: Kind) -> [String] { read.withLock { $0[kind] ?? [] } }

    /// Reads them where a shell asks for values: what offers values may not wait for an answer. Nothing is offered where the cluster does not answer at once.
    /// - Parameters:
    ///   - arguments: Without the program's name.
    ///   - home: The cluster's folder; `nil`: that of the environment.
    package static func prepare(for arguments: [String], _ home: ClusterHome? = nil) async {
        guard arguments.first == "---completion" else { return }
        let home = home ?? ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
        guard let cluster = try? ClusterFile.read(home) else { return }
        try? await HTTPExchange.once(trusting: cluster.authority) { exchange in
            var exchange = exchange
            exchange.timeout = .seconds(2)
            for kind in Kind.allCases {
                let address = "\(cluster.administration)/admin/v1/\(kind.rawValue)?size=\(most)"
                let answer = try await exchange.send("GET", address, headers: [("Authorization", "Bearer \(cluster.adminToken)")])
                let items = answer.object["items"] as? [[String: Any]] ?? []
                let ids = items.compactMap { $0["id"] as? String }.filter(isPlain)
                read.withLock { $0[kind] = ids }
            }
        }
    }

    /// A shell takes such a word as it is.
    static func isPlain(_ id: String) -> Bool {
        !id.isEmpty && id.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) }
    }
}

/// Who lives in the sandbox, as its settings have them unless they are changed.
package enum SandboxPeople {
    package static let names = ["ada", "ben", "cleo", "dan", "eve"]
    /// Refused also with the right password.
    package static let refused = "eve"

    /// - Parameter name: Whose login an MVPD refused.
    package static func advice(afterRefusing name: String) -> String {
        if name == refused { return "the sandbox always refuses \(name); sign in with --as ada" }
        guard !names.contains(name) else { return "the sandbox knows \(name): does that MVPD play a person of its own?" }
        return "the sandbox's people are \(names.filter { $0 != refused }.joined(separator: ", ")), and \(refused), who is always refused"
    }
}
