/// Single requests, one per iteration, taken in turn.
public final class RequestList: Workload {
    public let operations: [String]
    private let calls: [Call]
    private let stride: Int
    private var place: Int

    /// - Parameters:
    ///   - requests: Name and whole request of each, at least one; those of one name are one row of the report.
    ///   - worker: The workers take the requests in turn.
    public init(_ requests: [(name: String, payload: [UInt8])], worker: Int, workers: Int) {
        var names: [String] = []
        calls = requests.map { request in
            let operation = names.firstIndex(of: request.name) ?? names.count
            if operation == names.count { names.append(request.name) }
            return Call(operation: operation, payload: request.payload)
        }
        operations = names
        stride = workers
        place = worker
    }

    public func begin(_ user: inout User) -> Step {
        let call = calls[place % calls.count]
        place += stride
        return .call(call)
    }

    public func proceed(_ user: inout User, _ answer: Answer) -> Step { .done }
}
