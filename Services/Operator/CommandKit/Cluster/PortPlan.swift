/// The ports that a local cluster uses.
package struct PortPlan: Sendable, Equatable {
    /// `BOXOFFICE_PORT_BASE`; `nil` is the default plan.
    package let base: Int?

    /// - Parameter environment: Read for `BOXOFFICE_PORT_BASE`, 1024 to 65500.
    /// - Throws: `CommandFailure` when it is no such number.
    package init(environment: [String: String]) throws {
        guard let text = environment["BOXOFFICE_PORT_BASE"], !text.isEmpty else {
            base = nil
            return
        }
        guard let number = Int(text), (1024...65500).contains(number) else {
            throw CommandFailure("BOXOFFICE_PORT_BASE is '\(text)'", advice: "give a number from 1024 to 65500")
        }
        base = number
    }

    package init(base: Int?) { self.base = base }

    /// A plan whose ports nobody listens at now.
    /// - Throws: `CommandFailure` when none was found in a hundred tries.
    package static func free() throws -> PortPlan {
        for _ in 0..<100 {
            let plan = PortPlan(base: Int.random(in: 640..<1000) * 32)
            if plan.all.allSatisfy(ListenProbe.isFree) { return plan }
        }
        throw CommandFailure("no block of free ports was found between 20480 and 32000", advice: "stop what listens there")
    }

    private var all: [Int] {
        ClusterService.allCases.flatMap { [main($0), debug($0)] } + [https, admin, apple, upstream]
    }

    /// Returns where the service answers: HTTP for gateway and sandbox, RPC for the others.
    package func main(_ service: ClusterService) -> Int {
        switch service {
        case .gateway: base ?? 8080
        case .sandbox: base.map { $0 + 20 } ?? 8090
        default: base.map { $0 + service.index } ?? 7000 + service.index
        }
    }

    /// Metrics and health; the sandbox has them on its own port.
    package func debug(_ service: ClusterService) -> Int {
        switch service {
        case .sandbox: main(.sandbox)
        default: base.map { $0 + 10 + service.index } ?? 9000 + service.index
        }
    }

    /// The gateway's HTTPS.
    package var https: Int { base.map { $0 + 5 } ?? 8443 }

    /// The gateway is administered here.
    package var admin: Int { base.map { $0 + 6 } ?? 8081 }

    /// The cluster's own PostgreSQL.
    package var postgres: Int { base.map { $0 + 7 } ?? 7005 }

    /// The stand-in Apple.
    package var apple: Int { base.map { $0 + 21 } ?? 8091 }

    /// The stand-in upstream.
    package var upstream: Int { base.map { $0 + 22 } ?? 8092 }
}
