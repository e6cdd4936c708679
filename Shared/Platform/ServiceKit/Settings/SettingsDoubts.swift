extension CommonSettings {
    /// Warnings for an operator about the common settings, though a service starts with them: one line for each, which begins with the key.
    /// - Parameter connections: Seconds that the program's own connections get to end, where it has a setting `gateway.connections.drainSeconds`; `nil`: it has none.
    public func doubts(draining connections: Int? = nil) -> [String] {
        var doubts: [String] = []
        if ["0.0.0.0", "::"].contains(debug.address) {
            doubts.append(
                "debug.address \(debug.address) tells metrics and readiness on every interface, in plain HTTP; give this host's address in a private network"
            )
        }
        let seconds = limits.stopSeconds(draining: connections)
        if seconds > Self.longestStop {
            let own = connections.map { ", gateway.connections.drainSeconds \($0)" } ?? ""
            doubts.append(
                "limits.stopDelaySeconds \(limits.stopDelaySeconds ?? 0), limits.drainSeconds \(limits.drainSeconds ?? LimitSettings.usualDrain)\(own): "
                    + "a stop may last \(seconds) s, and whoever kills the program 30 s after the signal, as the guides' containers and pods do, must wait longer"
            )
        }
        return doubts
    }

    /// Seconds: five less than the units, containers and pods of the guides wait.
    private static var longestStop: Int { 25 }
}

extension LimitSettings {
    /// Where the settings do not say.
    static var usualDrain: Int { 10 }

    /// The longest that a program takes to end by itself, in seconds. It goes on for `stopDelaySeconds`, lets calls finish, and has five more for the
    /// rest.
    /// - Parameter connections: Seconds that the program's own connections get, at the same time as calls; `nil`: it has none.
    func stopSeconds(draining connections: Int? = nil) -> Int {
        (stopDelaySeconds ?? 0) + max(drainSeconds ?? Self.usualDrain, connections ?? 0) + 5
    }
}
