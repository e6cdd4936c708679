import AsyncHTTPClient
import Foundation
import NIOCore
import Synchronization

/// Stands in front of the gateways: a request to a public address goes to one that is ready, any of them.
final class Balancer: Sendable {
    /// A gateway: its own addresses, in the order of the public ones, and where it says whether it is ready.
    struct Target: Sendable {
        let addresses: [String]
        let readiness: String
        fileprivate var isReady = true
        /// It did not even say no, so often one after the other.
        fileprivate var silences = 0
        /// It said no, or nothing, so often one after the other.
        fileprivate var failures = 0

        init(addresses: [String], readiness: String) { (self.addresses, self.readiness) = (addresses, readiness) }
    }

    /// Those that apps, pages, MVPDs and administrators know.
    let publicAddresses: [String]
    private let targets: Mutex<[Target]>
    private let client: HTTPClient
    private let watch = Mutex<Task<Void, Never>?>(nil)
    /// How often a balancer asks, and after how many answers that are no or none it takes a gateway away.
    struct Habit: Sendable {
        var pause: Duration
        var failures: Int

        static let quick = Habit(pause: .milliseconds(250), failures: 1)
        /// As balancers of clouds are when nobody sets them.
        static let slow = Habit(pause: .seconds(1), failures: 2)
    }

    private let habit = Mutex(Habit.quick)
    /// How long one question may take.
    private static let patience: TimeAmount = .milliseconds(250)

    init(publicAddresses: [String], targets: [Target], client: HTTPClient) {
        self.publicAddresses = publicAddresses
        self.client = client
        self.targets = Mutex(targets)
    }

    func start() {
        let task = Task { await self.run() }
        watch.withLock { $0 = task }
    }

    func adopt(_ habit: Habit) { self.habit.withLock { $0 = habit } }

    func stop() async {
        let task = watch.withLock { $0 }
        task?.cancel()
        await task?.value
    }

    /// Waits until the gateway of this address says nothing any more. A caller that waits for its answer may give up: no balancer leaves connections
    /// to a dead machine open.
    func waitUntilGone(_ address: String) async throws {
        while true {
            try await Task.sleep(for: Habit.quick.pause)
            let isGone = targets.withLock { targets in
                targets.contains { $0.silences >= 3 && $0.addresses.contains { address == $0 || address.hasPrefix($0 + "/") } }
            }
            if isGone { return }
        }
    }

    /// - Returns: Where a request to the address goes; the address itself when it is not a public one.
    func address(of url: String) -> String {
        guard let index = publicAddresses.firstIndex(where: { url == $0 || url.hasPrefix($0 + "/") }) else { return url }
        let addresses = targets.withLock { targets in
            let ready = targets.filter(\.isReady)
            return (ready.isEmpty ? targets : ready).map { $0.addresses[index] }
        }
        return (addresses.randomElement() ?? publicAddresses[index]) + url.dropFirst(publicAddresses[index].count)
    }

    private func run() async {
        while !Task.isCancelled {
            let asked = targets.withLock { $0.map(\.readiness) }
            for (index, readiness) in asked.enumerated() {
                var request = HTTPClientRequest(url: readiness)
                request.headers.add(name: "Connection", value: "close")
                let status = (try? await client.execute(request, timeout: Self.patience))?.status
                let most = habit.withLock { $0.failures }
                targets.withLock { targets in
                    targets[index].failures = status == .ok ? 0 : targets[index].failures + 1
                    targets[index].isReady = targets[index].failures < most
                    targets[index].silences = status == nil ? targets[index].silences + 1 : 0
                }
            }
            try? await Task.sleep(for: habit.withLock { $0.pause })
        }
    }
}
