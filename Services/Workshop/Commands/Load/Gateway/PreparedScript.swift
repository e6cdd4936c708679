internal import LoadTool

/// A visit whose calls are made before the measurement: one after the other, for a device that is signed in.
protocol PreparedScript: GatewayScript {
    /// By device, then by step.
    var requests: [[[UInt8]]] { get }
}

extension PreparedScript {
    func begin(_ visit: Visit) -> Step { next(visit) }

    func proceed(_ visit: Visit, _ answer: Answer) -> Step { visit.place < Self.steps.count ? next(visit) : .done }

    private func next(_ visit: Visit) -> Step {
        defer { visit.place += 1 }
        return visit.call(visit.place, requests[min(requests.count - 1, Int(visit.draw * Double(requests.count)))][visit.place])
    }
}
