internal import ClusterCommands
internal import CommandKit
internal import Foundation
internal import PeerDoubles

/// A service that is started for one load only, with doubles in this process as its peers.
struct IsolatedService: Sendable {
    private let lone: LoneService
    private let running: LoneService.Running
    private let folder: URL

    /// Starts the program that was built with this one, with keys, settings and state in a temporary folder and on ports that are free.
    /// - Throws: `CommandFailure` when the program is not there or does not become ready; nothing is left then.
    static func start(_ service: ClusterService, behaviour: DoubleBehaviour) async throws -> IsolatedService {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("boxoffice-load-\(UUID().uuidString)")
        return try await HTTPExchange.once { exchange in
            do {
                let lone = LoneService(service: service, home: ClusterHome(root: folder), ports: try PortPlan.free(), behaviour: behaviour)
                return IsolatedService(lone: lone, running: try await lone.start(exchange: exchange), folder: folder)
            } catch {
                try? FileManager.default.removeItem(at: folder)
                throw error
            }
        }
    }

    /// The folder in which the load finds the service, laid out like a cluster's home.
    var home: String { folder.path }

    func stop() async {
        await lone.stop(running)
        try? FileManager.default.removeItem(at: folder)
    }
}
