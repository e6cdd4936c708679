package import ArgumentParser
internal import CommandKit
internal import Foundation

/// `boxoffice down`: stops the local cluster.
package struct DownCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(commandName: "down", abstract: "Stop the local cluster; its state stays.")

    @Flag(help: "Print JSON.")
    var json = false

    package init() {}

    package func run() async throws {
        let home = ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
        let console = Console(isQuiet: json)
        // An 'up' that watches the services must not take their end for a crash; one that still starts them is not waited for.
        let lock = try? ClusterLock(home)
        defer { lock?.release() }
        let store = ClusterStore(home: home, ports: try PortPlan(environment: ProcessInfo.processInfo.environment), choice: .asBefore)
        guard let file = try ClusterFile.read(home) else {
            // A start that failed leaves its PostgreSQL; one that goes on still needs it.
            let isLeft = lock != nil && store.stop()
            console.line("No cluster runs in \(home.root.path)." + (isLeft ? " The PostgreSQL that a start had left was stopped." : ""))
            return try show(home, stopped: [], killed: [], others: [])
        }
        let processes = file.processes
        let running = processes.filter(\.isRunning)
        let killed = await ClusterStopper.stop(processes)
        store.stop()
        try? FileManager.default.removeItem(at: home.clusterFile)
        console.line(running.isEmpty ? "Nothing was running." : "Stopped \(running.count) processes; the state stays in \(home.data.path).")
        for replacement in file.replacements {
            console.line("\(replacement.service.rawValue) at \(replacement.address) is yours and goes on.")
        }
        for copy in killed {
            console.line(console.bad("\(copy.name) did not stop in 10 s and was killed; its log is \(home.log(of: copy).path)"))
        }
        try show(home, stopped: running.map(\.copy.name), killed: killed.map(\.name), others: file.replacements.map(\.service.rawValue))
    }

    /// - Parameter others: Somebody's own services, which go on.
    private func show(_ home: ClusterHome, stopped: [String], killed: [String], others: [String]) throws {
        guard json else { return }
        try JsonOutput.show(["home": home.root.path, "stopped": stopped.sorted(), "killed": killed, "running": others])
    }
}
