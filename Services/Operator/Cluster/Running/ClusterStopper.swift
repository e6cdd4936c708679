package import CommandKit
internal import Foundation

/// Stops processes of a cluster: asks first, and insists after a while.
package enum ClusterStopper {
    /// - Parameters:
    ///   - processes: Those that still run are asked to stop.
    ///   - patience: How long they may take to finish what they are doing.
    /// - Returns: Those that had to be killed.
    package static func stop(_ processes: [ServiceProcess], patience: Duration = .seconds(10)) async -> [ServiceCopy] {
        // The gateway first, so that no new request meets a service that is on its way out.
        let running = processes.filter(\.isRunning).sorted { $0.service.index < $1.service.index }
        running.forEach { $0.signal(SIGTERM) }
        let end = ContinuousClock.now + patience
        var left = running
        while !left.isEmpty, ContinuousClock.now < end {
            try? await Task.sleep(for: .milliseconds(20))
            left = left.filter(\.isRunning)
        }
        left.forEach { $0.signal(SIGKILL) }
        let killed = left.map(\.copy)
        let last = ContinuousClock.now + .seconds(2)
        while !left.isEmpty, ContinuousClock.now < last {
            try? await Task.sleep(for: .milliseconds(10))
            left = left.filter(\.isRunning)
        }
        return killed
    }
}
