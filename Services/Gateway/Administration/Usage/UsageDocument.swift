internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import TextEncodings

/// A report with its links, in any of the four formats.
struct UsageDocument {
    let report: UsageReport
    let query: UsageQuery

    func response(as format: UsageFormat) -> Response {
        let text: String
        switch format {
        case .json: return Response(Document("resource", json), format: .json)
        case .xml: text = xml
        case .csv: text = csv
        case .html: text = html
        }
        var response = Response(text: text, type: format.contentType, cacheControl: "no-store")
        // Nothing of it runs, whatever a device calls itself.
        if format == .html { response.headers[.contentSecurityPolicy] = "default-src 'none'" }
        if format == .csv { response.headers[.contentDisposition] = "attachment; filename=\"\(fileName)\"" }
        return response
    }

    // MARK: Links

    private var path: String { ([UsageEndpoints.root] + query.path).joined(separator: "/") }

    /// With everything that the report was made of, what nobody asked for too.
    private var selfLink: String {
        var parameters: [(String, String)] = []
        if !report.start.isEmpty { parameters.append(("start", report.start)) }
        if !report.end.isEmpty { parameters.append(("end", report.end)) }
        parameters.append(("limit", String(report.limit)))
        if !query.metrics.isEmpty { parameters.append(("metrics", query.metrics.joined(separator: ","))) }
        for filter in query.filters {
            if filter.values.isEmpty { parameters.append((filter.dimension, "")) }
            for value in filter.values { parameters.append((filter.dimension + (filter.isExcluding ? "!" : ""), value)) }
        }
        let texts = parameters.map { name, value in
            value.isEmpty && !name.hasSuffix("!") ? PercentEncoding.encode(name) : "\(Self.encoded(name))=\(Self.encoded(value))"
        }
        return path + "?" + texts.joined(separator: "&")
    }

    /// As people write it: a query takes these as they are.
    private static func encoded(_ text: String) -> String {
        var encoded = PercentEncoding.encode(text)
        for (code, plain) in [("%3A", ":"), ("%2C", ","), ("%21", "!")] {
            encoded = encoded.split(separator: code, omittingEmptySubsequences: false).joined(separator: plain)
        }
        return encoded
    }

    private var rollUp: (href: String, name: String)? {
        guard !query.path.isEmpty else { return nil }
        let above = query.path.dropLast()
        return (([UsageEndpoints.root] + above).joined(separator: "/"), above.last ?? "total")
    }

    private var drillDown: [(href: String, name: String)] { report.drillDown.map { (path + "/" + $0, $0) } }

    // MARK: Formats

    private var columns: [String] { report.dimensions + report.metrics }

    private func values(_ row: UsageRow) -> [String] { row.values + row.counts.map { String($0) } }

    private var json: [Document.Member] {
        func link(_ href: String, _ name: String? = nil) -> Document.Value {
            .object([.init("href", .text(href))] + (name.map { [.init("name", .text($0))] } ?? []))
        }
        var links: [Document.Member] = [.init("self", link(selfLink))]
        if let rollUp { links.append(.init("roll-up", link(rollUp.href, rollUp.name))) }
        links.append(.init("drill-down", .list(drillDown.map { link($0.href, $0.name) }, item: "link")))
        let rows = report.rows.map { row in
            Document.Value.object(zip(columns, values(row)).map { Document.Member($0, .text($1)) })
        }
        return [.init("_links", .object(links)), .init("report", .list(rows, item: "record"))]
    }

    private var xml: String {
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<resource href=\"\(Self.escaped(selfLink))\"><links>"
        let links = (rollUp.map { [("roll-up", $0)] } ?? []) + drillDown.map { ("drill-down", $0) }
        for (relation, link) in links {
            text += "<link rel=\"\(relation)\" href=\"\(Self.escaped(link.href))\" name=\"\(Self.escaped(link.name))\"/>"
        }
        text += "</links><report>"
        for row in report.rows {
            text += "<record"
            for (column, value) in zip(columns, values(row)) { text += " \(column)=\"\(Self.escaped(value))\"" }
            text += "/>"
        }
        return text + "</report></resource>\n"
    }

    private var csv: String {
        var table = CommaSeparatedTable()
        table.append(columns)
        for row in report.rows { table.append(values(row)) }
        return table.text
    }

    /// `esm__<start>_<end>_<filters>.csv`, of characters that every system takes.
    private var fileName: String {
        let filters = query.filters.flatMap { filter in filter.values.map { "\(filter.dimension)\(filter.isExcluding ? "!" : "")=\($0)" } }
        let name = "esm__\(report.start)_\(report.end)_\(filters.joined(separator: "_"))"
        let plain = name.unicodeScalars.map { scalar -> Character in
            let isPlain = scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || "-_=!.".unicodeScalars.contains(scalar)
            return scalar.isASCII && isPlain ? Character(scalar) : "-"
        }
        return String(plain.prefix(200)) + ".csv"
    }

    private var html: String {
        func cells(_ texts: [String], _ tag: String) -> String { texts.map { "<\(tag)>\(Self.escaped($0))</\(tag)>" }.joined() }
        func item(_ link: (href: String, name: String)) -> String {
            "<li><a href=\"\(Self.escaped(link.href)).html\">\(Self.escaped(link.name))</a></li>"
        }
        let rows = report.rows.map { "<tr>\(cells(values($0), "td"))</tr>" }.joined(separator: "\n")
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><title>\(Self.escaped(path))</title></head><body>
            <h1>\(Self.escaped(selfLink))</h1>
            <ul>\(rollUp.map(item) ?? "")\(drillDown.map(item).joined())</ul>
            <table><thead><tr>\(cells(columns, "th"))</tr></thead>
            <tbody>\(rows)</tbody></table>
            </body></html>

            """
    }

    private static func escaped(_ text: String) -> String { MarkupEscapes.report.escaped(text) }
}

/// The format of a usage report (rest-v2 §7).
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
