internal import CommandKit
internal import Foundation

/// What `/admin/v1/people/export` answers, counted: nobody needs to read it to erase it.
struct PersonHoldings {
    /// Rows by service and table; tables without rows are left out.
    let rows: [String: [String: Int]]
    /// At how many MVPDs somebody is found.
    let people: Int
    /// Rows of the person's that an erasure leaves. Other things that stay are told of everybody, and count no rows.
    let staying: Int
    /// The services hold more rows than the answer has.
    let hasMore: Bool

    /// - Throws: `CommandFailure` for what is no export: nobody may take it for one of somebody about whom nothing is held.
    init(_ answer: HTTPAnswer) throws {
        let object = answer.object
        guard let services = object["services"] as? [String: [String: Any]] else {
            throw CommandFailure("the cluster's answer is no export", advice: "is it of this release?", exit: .unreachable)
        }
        rows = services.mapValues { service in
            (service["tables"] as? [String: [Any]] ?? [:]).mapValues(\.count).filter { $0.value > 0 }
        }.filter { !$0.value.isEmpty }
        people = (object["people"] as? [Any])?.count ?? 0
        staying = services.values.flatMap { $0["remainders"] as? [[String: Any]] ?? [] }.reduce(0) { $0 + ($1["rows"] as? Int ?? 0) }
        hasMore = services.values.contains { $0["more"] as? Bool == true }
    }

    var isEmpty: Bool { rows.isEmpty && people == 0 && staying == 0 }

    var lines: [String] {
        guard !isEmpty else { return ["nothing is held about this person"] }
        let lines = rows.sorted { $0.key < $1.key }.flatMap { service, tables in
            tables.sorted { $0.key < $1.key }.map { "\(service)  \($0.key)  \($0.value) \($0.value == 1 ? "row" : "rows")" }
        }
        let known = lines.isEmpty && staying == 0 ? ["  an id, and no row of any table"] : lines.map { "  \($0)" }
        let stays = staying > 0 ? ["  \(staying) \(staying == 1 ? "row" : "rows") that an erasure leaves; an export says which, and why"] : []
        return ["held about this person:"] + known + stays + (hasMore ? ["  and more"] : [])
    }

    /// For programs.
    var members: [String: Any] { ["people": people, "rows": rows, "staying": staying, "more": hasMore] }
}
