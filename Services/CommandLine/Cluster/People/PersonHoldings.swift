internal import Foundation

/// What `/admin/v1/people/export` answers, counted: nobody needs to read it to erase it.
struct PersonHoldings {
    /// Rows by service and table; tables without rows are left out.
    let rows: [String: [String: Int]]
    /// At how many MVPDs somebody is found.
    let people: Int
    /// The services hold more rows than the answer has.
    let hasMore: Bool

    init(_ answer: HTTPAnswer) {
        let object = answer.object
        let services = object["services"] as? [String: [String: Any]] ?? [:]
        rows = services.mapValues { service in
            (service["tables"] as? [String: [Any]] ?? [:]).mapValues(\.count).filter { $0.value > 0 }
        }.filter { !$0.value.isEmpty }
        people = (object["people"] as? [Any])?.count ?? 0
        hasMore = services.values.contains { $0["more"] as? Bool == true }
    }

    var isEmpty: Bool { rows.isEmpty }

    var lines: [String] {
        guard !isEmpty else { return ["nothing is held about this person"] }
        let lines = rows.sorted { $0.key < $1.key }.flatMap { service, tables in
            tables.sorted { $0.key < $1.key }.map { "\(service)  \($0.key)  \($0.value) \($0.value == 1 ? "row" : "rows")" }
        }
        return ["held about this person:"] + lines.map { "  \($0)" } + (hasMore ? ["  and more"] : [])
    }

    /// For programs.
    var members: [String: Any] { ["people": people, "rows": rows, "more": hasMore] }
}
