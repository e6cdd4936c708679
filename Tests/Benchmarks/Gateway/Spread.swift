/// The middle and the ends of several measurements.
struct Spread {
    private let sorted: [Double]

    init(_ values: [Double]) { sorted = values.sorted() }

    var median: Double {
        guard !sorted.isEmpty else { return .nan }
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    /// The values that a quarter of all are below, and above.
    var quartiles: (lower: Double, upper: Double) {
        guard let last = sorted.indices.last else { return (.nan, .nan) }
        return (sorted[last / 4], sorted[last - last / 4])
    }

    var least: Double { sorted.first ?? .nan }
    var most: Double { sorted.last ?? .nan }
}
