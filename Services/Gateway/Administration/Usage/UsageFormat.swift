internal import Faults

/// What a usage report is written as (rest-v2 §7).
enum UsageFormat: String, CaseIterable, Sendable {
    case json, xml, csv, html

    /// The path's ending, then the parameter `format`, then `Accept`; JSON where none of them says anything.
    /// - Returns: `nil` when nothing of what is accepted is written here.
    /// - Throws: `invalid_request` for another `format`.
    static func chosen(suffix: String?, parameter: String?, accept: [String]) throws(Fault) -> UsageFormat? {
        if let suffix, let format = UsageFormat(rawValue: suffix) { return format }
        guard let parameter, !parameter.isEmpty else { return preferred(accept.joined(separator: ",")) }
        guard let format = UsageFormat(rawValue: parameter.lowercased()) else {
            throw Fault(.invalidRequest, "Parameter 'format' must be json, xml, csv or html.")
        }
        return format
    }

    var contentType: String {
        switch self {
        case .json: "application/json; charset=utf-8"
        case .xml: "application/xml; charset=utf-8"
        case .csv: "text/csv; charset=utf-8; header=present"
        case .html: "text/html; charset=utf-8"
        }
    }

    /// The best of the types by q value, the first on a tie.
    private static func preferred(_ accept: String) -> UsageFormat? {
        var best: (format: UsageFormat, quality: Double)?
        var isEmpty = true
        for entry in accept.split(separator: ",") {
            let parts = entry.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            guard let type = parts.first, !type.isEmpty else { continue }
            isEmpty = false
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            guard let format = named(type), quality > best?.quality ?? 0 else { continue }
            best = (format, quality)
        }
        return best?.format ?? (isEmpty ? .json : nil)
    }

    private static func named(_ type: String) -> UsageFormat? {
        switch type {
        case "application/json", "application/hal+json", "text/json", "*/*", "application/*": .json
        case "application/xml", "application/hal+xml", "text/xml": .xml
        case "text/csv": .csv
        case "text/html", "application/xhtml+xml", "text/*": .html
        default: nil
        }
    }
}
