/// Writes the places of arguments as PostgreSQL has them: `?` becomes `$1`, `$2`, … in turn, and `?2` becomes `$2`. Quoted text stays.
func numberedPlaces(_ text: String) -> String {
    var result: [UInt8] = []
    result.reserveCapacity(text.utf8.count + 16)
    var quote: UInt8?
    var next = 1
    let octets = Array(text.utf8)
    for (index, octet) in octets.enumerated() {
        if let open = quote {
            if octet == open { quote = nil }
        } else if octet == UInt8(ascii: "'") || octet == UInt8(ascii: "\"") {
            quote = octet
        } else if octet == UInt8(ascii: "?") {
            result.append(UInt8(ascii: "$"))
            let isNumbered = index + 1 < octets.count && (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octets[index + 1])
            if !isNumbered {
                result.append(contentsOf: String(next).utf8)
                next += 1
            }
            continue
        }
        result.append(octet)
    }
    return String(decoding: result, as: UTF8.self)
}
