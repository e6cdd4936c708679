internal import Contracts
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

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            // No character of XML 1.0.
            case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: escaped += " "
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
