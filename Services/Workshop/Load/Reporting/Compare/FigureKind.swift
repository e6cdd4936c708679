/// A figure by which two runs are compared.
enum FigureKind: Hashable, Sendable {
    /// Good answers per second.
    case rate
    case mean
    /// A percentile of the response time, 0 to 100.
    case percentile(Double)
    case longest
    /// Share of failed calls.
    case errors
    /// Processor time of the service per good answer.
    case processorTime
    /// The largest resident set of the service.
    case memory

    /// As assertions name it.
    var name: String {
        switch self {
        case .rate: "rate"
        case .mean: "mean"
        case .percentile(let percentile): "p\(Quantity.percentile(percentile))"
        case .longest: "max"
        case .errors: "errors"
        case .processorTime: "cpu"
        case .memory: "memory"
        }
    }

    init?(name: String) {
        switch name {
        case "rate": self = .rate
        case "mean": self = .mean
        case "max": self = .longest
        case "errors": self = .errors
        case "cpu": self = .processorTime
        case "memory": self = .memory
        default:
            let digits = name.dropFirst()
            guard name.hasPrefix("p"), digits.first?.isNumber == true, let number = Double(digits), (0...100).contains(number) else { return nil }
            self = .percentile(number)
        }
    }

    /// For people.
    var title: String {
        switch self {
        case .rate: "good answers/s"
        case .mean: "mean latency"
        case .percentile: name
        case .longest: "longest"
        case .errors: "failed calls"
        case .processorTime: "service CPU per answer"
        case .memory: "service memory, most"
        }
    }

    var isBetterWhenHigher: Bool { self == .rate }

    func text(_ value: Double) -> String {
        switch self {
        case .rate: Quantity.number(value)
        case .mean, .percentile, .longest, .processorTime: Quantity.time(value)
        case .errors: Quantity.share(value)
        case .memory: Quantity.bytes(value)
        }
    }
}
