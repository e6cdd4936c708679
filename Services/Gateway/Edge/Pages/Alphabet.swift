/// How a language orders letters, where it differs from the usual order (CLDR's root collation, which English, French, German and Portuguese have).
///
/// Written as groups with a blank between: in each, the first letter is followed by letters of their own that come right after it, in their order. `nñ` is
/// Spanish; Swedish would be `zåäö`. A letter with a mark that is in no group counts as the letter without, and differs only where all else is equal.
struct Alphabet: Sendable {
    /// Place behind the first letter of the group, from 1.
    private let places: [Unicode.Scalar: (base: Unicode.Scalar, place: UInt8)]

    init(_ groups: String) {
        var places: [Unicode.Scalar: (base: Unicode.Scalar, place: UInt8)] = [:]
        for group in groups.lowercased().split(separator: " ") {
            let letters = Array(group.unicodeScalars.prefix(200))
            for (index, letter) in letters.enumerated().dropFirst() { places[letter] = (letters[0], UInt8(index)) }
        }
        self.places = places
    }

    /// - Parameter letter: In lower case.
    func place(_ letter: Unicode.Scalar) -> (base: Unicode.Scalar, place: UInt8)? { places.isEmpty ? nil : places[letter] }
}
