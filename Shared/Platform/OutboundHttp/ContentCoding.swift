internal import CGunzip

/// Codings of a body (RFC 9110 §8.4). Nobody is asked for one; caches in front of providers send gzip all the same.
enum ContentCoding {
    /// Decoded octets for each one that came: more is no document, but an attack.
    static let largestRatio = 100
    /// Whatever the ratio, as much may come of a body.
    private static let smallest = 16 * 1024

    /// Why a body cannot be decoded.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    /// - Parameters:
    ///   - headers: The headers of the answer. Those about a coding that was taken off are left out.
    ///   - body: As it came.
    ///   - largest: Octets of the decoded body.
    /// - Throws: `Problem` for another coding than gzip, a body that is none, and one that decodes to too much.
    static func decoded(
        _ headers: [OutboundRequest.Header], _ body: [UInt8], largest: Int
    ) throws(Problem) -> (headers: [OutboundRequest.Header], body: [UInt8]) {
        var codings: [String] = []
        for header in headers where isNamed(header.name, "content-encoding") {
            for part in header.value.split(separator: ",") {
                let name = part.filter { $0 != " " && $0 != "\t" }.lowercased()
                if !name.isEmpty, name != "identity" { codings.append(name) }
            }
        }
        guard !codings.isEmpty, !body.isEmpty else { return (headers, body) }
        guard codings.allSatisfy({ $0 == "gzip" || $0 == "x-gzip" }), codings.count == 1 else {
            throw Problem(
                description:
                    "the answer is coded as '\(codings.joined(separator: ", ").prefix(64))', though Accept-Encoding asks for no coding; gzip alone is decoded"
            )
        }
        let rest = headers.filter { !isNamed($0.name, "content-encoding") && !isNamed($0.name, "content-length") }
        return (rest, try gunzip(body, largest: largest))
    }

    static func gunzip(_ body: [UInt8], largest: Int) throws(Problem) -> [UInt8] {
        let (product, isHuge) = body.count.multipliedReportingOverflow(by: largestRatio)
        let room = max(1, min(largest, isHuge ? largest : max(product, smallest)))
        var length = 0
        let output = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            length = cgunzip(body, body.count, buffer.baseAddress, room)
            count = max(0, length)
        }
        switch length {
        case 0...: return output
        case -2:
            throw Problem(description: "the answer is gzip that decodes to more than \(room) bytes, from \(body.count)")
        default: throw Problem(description: "the answer is called gzip and is none, or breaks off")
        }
    }

    private static func isNamed(_ name: String, _ expected: String) -> Bool {
        name.utf8.count == expected.utf8.count && name.lowercased() == expected
    }
}
