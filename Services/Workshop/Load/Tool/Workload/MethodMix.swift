/// Single calls of one or several methods: each iteration is one call, of a method chosen by weight.
final class MethodMix: Workload {
    let operations: [String]
    private let methods: [PreparedMethod]
    private let weights: [Double]
    /// Each method is in its payloads here.
    private var places: [Int]
    private let stride: Int
    private var calls: [[Call]]

    /// - Parameters:
    ///   - worker: The workers take the payloads in turn.
    init(_ methods: [PreparedMethod], worker: Int, workers: Int) {
        self.methods = methods
        operations = methods.map(\.name)
        let total = methods.reduce(0) { $0 + $1.weight }
        var sum = 0.0
        weights = methods.map { method in
            sum += method.weight / total
            return sum
        }
        places = methods.map { _ in worker }
        stride = workers
        calls = methods.enumerated().map { operation, method in
            method.payloads.map { Call(operation: operation, payload: $0, tolerates: method.tolerates) }
        }
    }

    func begin(_ user: inout User) -> Step {
        let operation = calls.count == 1 ? 0 : choose(&user)
        let prepared = calls[operation]
        let place = places[operation] % prepared.count
        places[operation] = place + stride
        return .call(prepared[place])
    }

    func proceed(_ user: inout User, _ answer: Answer) -> Step { .done }

    private func choose(_ user: inout User) -> Int {
        let point = user.random.unit()
        return weights.firstIndex { point < $0 } ?? weights.count - 1
    }
}
