/// Text that administrators write for people.
enum FreeText {
    static func isGood(_ text: String, _ length: ClosedRange<Int>) -> Bool {
        length.contains(text.count) && !text.unicodeScalars.contains { $0.properties.generalCategory == .control && $0 != "\n" }
    }
}
