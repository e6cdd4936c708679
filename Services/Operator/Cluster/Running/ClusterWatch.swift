internal import CommandKit

/// Stays beside a cluster: reports services that die, starts them again if asked to, and stops what it started at the end.
struct ClusterWatch {
    let starter: ClusterStarter
    let console: Console
    let supervise: Bool

    func watch(_ started: [ServiceProcess], until signals: StopSignals) async {
        let final = await withTaskGroup(of: [ServiceProcess]?.self) { group in
            let watcher = Task { await self.follow(started) }
            group.addTask { await watcher.value }
            group.addTask {
                await signals.wait()
                watcher.cancel()
                return nil
            }
            var processes = started
            for await result in group {
                if let result { processes = result }
            }
            return processes
        }
        console.line("\nStopping \(final.count) processes ...")
        console.event("stopping", ["processes": final.count])
        let killed = await ClusterStopper.stop(final)
        killed.forEach { console.note(console.bad("\($0.name) did not stop in 10 s and was killed")) }
        starter.forgetProcesses(final)
        console.event("stopped", ["state": starter.home.data.path, "killed": killed.map(\.name)])
        console.line("Stopped; the state stays in \(starter.home.data.path).")
    }

    /// Looks after the processes until cancelled.
    private func follow(_ started: [ServiceProcess]) async -> [ServiceProcess] {
        var processes = started
        while !Task.isCancelled {
            for (index, process) in processes.enumerated().reversed() where !process.isRunning {
                let copy = process.copy
                // While another 'up' or a 'down' is at work, nothing is known yet: its work is seen once it is done.
                guard let lock = try? ClusterLock(starter.home) else { break }
                defer { lock.release() }
                let file = try? ClusterFile.read(starter.home)
                if let found = file?.processes.first(where: { $0.copy == copy }), found.pid != process.pid, found.isRunning {
                    processes[index] = found
                    console.line("\(copy.name) was started again by another 'up', as process \(found.pid)")
                    console.event("restarted", ["service": copy.name, "pid": Int(found.pid), "byAnother": true])
                    continue
                }
                let log = starter.home.log(of: copy).path
                console.line(console.bad("\(copy.name) (process \(process.pid)) has ended; its log is \(log)"))
                console.event("ended", ["service": copy.name, "pid": Int(process.pid), "log": log])
                if supervise, file != nil, let again = try? await starter.restart(copy.service, number: copy.number) {
                    processes[index] = again
                    console.line("\(copy.name) was started again as process \(again.pid)")
                    console.event("restarted", ["service": copy.name, "pid": Int(again.pid), "byAnother": false])
                } else {
                    processes.remove(at: index)
                    console.line("Bring it back with ./Services/up in another terminal.")
                }
            }
            try? await Task.sleep(for: .milliseconds(250))
        }
        return processes
    }
}
