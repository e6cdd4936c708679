internal import LoadReporting

/// Failures by code.
struct ErrorTally: Sendable {
    private struct Entry: Sendable {
        var count: Int
        var example: String
    }

    private var entries: [String: Entry] = [:]

    var isEmpty: Bool { entries.isEmpty }

    mutating func record(_ code: String, _ message: String) { entries[code, default: Entry(count: 0, example: message)].count += 1 }

    mutating func add(_ other: ErrorTally) {
        for (code, entry) in other.entries { entries[code, default: Entry(count: 0, example: entry.example)].count += entry.count }
    }

    var byCode: [String: Int] { entries.mapValues(\.count) }

    /// Most frequent first.
    var counts: [ErrorCount] {
        entries.map { ErrorCount(code: $0.key, count: $0.value.count, example: $0.value.example.isEmpty ? nil : $0.value.example) }
            .sorted { ($1.count, $0.code) < ($0.count, $1.code) }
    }
}
